import type { MessagePiece } from "#lib/transcript/call";
import { findErrorMessage } from "#lib/transcript/error-message";
import { makeTouching, type Touch, type TouchingSession } from "#lib/transcript/files/touches";
import { getTurnName, isExpansion } from "#lib/transcript/injected";
import type { ReaderMessage } from "#lib/transcript/message";
import { readOutcome } from "#lib/transcript/outcome";
import { makePairing } from "#lib/transcript/pairing";
import { cut, firstLine } from "#lib/transcript/text";
import { planTitle, tellingLine } from "#lib/transcript/titles/lines";
import { describeTool } from "#lib/transcript/tools/tools";
import { findToolKind } from "#lib/transcript/vocabulary";

const maxTitle = 120;

/** A longer pause does not count as active time. */
const minGapSeconds = 300;

export type Outline = {
  turns: Turn[];
  files: FileSum[];
  /** The number of all files; `files` has only the first. */
  fileCount: number;
  errors: Failure[];
  agents: NamedPosition[];
  /** The longest pauses, in the order of their positions. */
  gaps: { position: number; seconds: number }[];
  span: { first: number; last: number };
};

type NamedPosition = { position: number; title: string };

/** The title is the call's, the message its output's. */
export type Failure = NamedPosition & { message: string };

export type Turn = NamedPosition & {
  at: number | null;
  tools: number;
  errors: number;
};

type FileSum = {
  path: string;
  reads: number;
  edits: number;
  added: number;
  removed: number;
  firstPosition: number;
  lastPosition: number;
  /** Positions of the edits, or of the reads if there are none. */
  places: { position: number; added: number; removed: number }[];
};

export type Outliner = { add: (message: ReaderMessage) => void; result: () => Outline };

export function makeOutliner(session: TouchingSession): Outliner {
  const turns: Turn[] = [];
  const errors: Failure[] = [];
  const agents: NamedPosition[] = [];
  const touching = makeTouching(session);
  const clock = makeClock();
  const pairing = makePairing((placed, result) => {
    touching.take(placed, result);
    const { status, output, exitCode } = readOutcome(result);
    if (status !== "failed") return;
    const part = describeTool(placed.call, result);
    if (part.status !== "failed") return;
    const message = findErrorMessage(output) || (exitCode === undefined ? "Failed" : `Exit code ${exitCode}`);
    const own = firstLine(part.title, maxTitle);
    const title = own === "" || message.startsWith(own) ? placed.call.name : own;
    errors.push({ position: placed.position, title, message });
  });
  let before: MessagePiece | undefined;
  const add = (message: ReaderMessage) => {
    const { position } = message;
    touching.see(position);
    const at = clock.see(position, message.createdAt);
    for (const piece of pairing.add(message)) {
      const told = isExpansion(before, piece);
      if (piece.type === "text" && !told && isTurn(piece)) {
        const title = piece.kind === "command" ? piece.title : getTurnTitle(piece.text);
        turns.push({ position, title, at, tools: 0, errors: 0 });
      } else if (piece.type === "call") {
        const turn = turns.at(-1);
        if (turn) turn.tools += 1;
        const { name, type, kind = findToolKind(name, type) } = piece.call;
        if (kind === "subagent" && agents.length < maxShown.agents)
          agents.push({ position, title: firstLine(describeTool(piece.call, piece.result).title || name, maxTitle) });
      }
      if (!told && piece.type !== "output") before = piece;
    }
  };
  const result = () => {
    const waiting = pairing.waiting();
    pairing.end();
    errors.sort((a, b) => a.position - b.position);
    countErrors(turns, errors);
    return { turns, ...sumFiles(touching.touches(waiting)), errors, agents, ...clock.result() };
  };
  return { add, result };
}

/** A person's words begin a turn, or a command for the agent, but no command to the program. */
const isTurn = ({ kind, own }: Extract<MessagePiece, { type: "text" }>) =>
  kind === "user" || (kind === "command" && own === true);

const maxLooked = 16_384;

function getTurnTitle(text: string): string {
  const looked = text.slice(0, maxLooked);
  const told = planTitle(looked) === undefined ? tellingLine(looked) : undefined;
  const own = told?.isTelling ? plainTitle(told.line, maxTitle) : "";
  return own || plainTitle(getTurnName(text), maxTitle) || plainTitle(text, maxTitle);
}

function countErrors(turns: Turn[], errors: Failure[]): void {
  let index = -1;
  for (const { position } of errors) {
    while ((turns[index + 1]?.position ?? Number.POSITIVE_INFINITY) <= position) index += 1;
    const turn = turns[index];
    if (turn) turn.errors += 1;
  }
}

function makeClock() {
  const gaps: Outline["gaps"] = [];
  const span = { first: 0, last: 0 };
  let isFirst = true;
  let before: number | undefined;
  const see = (position: number, createdAt: string | null): number | null => {
    if (isFirst) span.first = position;
    isFirst = false;
    span.last = position;
    if (createdAt === null) return null;
    const at = Math.floor(Date.parse(createdAt) / 1000);
    if (before !== undefined) {
      const seconds = at - before;
      if (seconds >= minGapSeconds) gaps.push({ position, seconds });
    }
    before = at;
    return at;
  };
  const result = () => ({ gaps: longest(gaps), span });
  return { see, result };
}

const longest = (gaps: Outline["gaps"]) =>
  gaps
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, maxShown.gaps)
    .sort((a, b) => a.position - b.position);

export function makeOutline(messages: Iterable<ReaderMessage>, session: TouchingSession = unknownSession): Outline {
  const outliner = makeOutliner(session);
  for (const message of messages) outliner.add(message);
  return outliner.result();
}

const unknownSession: TouchingSession = { source: "unknown", metadata: null };

export const maxShown = { places: 20, files: 500, gaps: 200, agents: 500 };

function sumFiles(touches: Touch[]): Pick<Outline, "files" | "fileCount"> {
  const files = [...Map.groupBy(touches, ({ path }) => path)].map(([path, some]) => sumFile(path, some));
  const isRead = ({ edits }: FileSum) => Number(edits === 0);
  files.sort((a, b) => isRead(a) - isRead(b) || a.firstPosition - b.firstPosition);
  return { files: files.slice(0, maxShown.files), fileCount: files.length };
}

function sumFile(path: string, touches: Touch[]): FileSum {
  const edits = touches.filter(({ action }) => action !== "read");
  const sum = (side: "added" | "removed") => edits.reduce((total, touch) => total + touch[side], 0);
  return {
    path,
    reads: touches.length - edits.length,
    edits: edits.length,
    added: sum("added"),
    removed: sum("removed"),
    firstPosition: touches[0]?.position ?? 0,
    lastPosition: touches.at(-1)?.position ?? 0,
    places: (edits.length > 0 ? edits : touches)
      .slice(0, maxShown.places)
      .map(({ position, added, removed }) => ({ position, added, removed })),
  };
}

const maxTitleSource = 4000;

const wrapping = /(\*\*|__|~~|`+)(?=\S)([^\n]*?\S)\1/g;

/** Underscores in names and stars in commands stay. */
function plainLine(line: string): string {
  return line
    .replace(/^\s*(?:(?:#{1,6}|>|[-*+]|\d{1,3}[.)])\s+)+/, "")
    .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, "$1")
    .replace(wrapping, "$2")
    .replace(wrapping, "$2")
    .replace(/\s+/g, " ")
    .trim();
}

const mute = /^\s*(?:[-*_=]{3,}|`{3,}\S*|~{3,}\S*|<\/?[\w-]+[^>\n]*>)\s*$/;

/** A line that announces the next (“…:”) is joined with it. */
export function plainTitle(text: string, max = 120): string {
  let title = "";
  for (const line of text.slice(0, maxTitleSource).split("\n")) {
    const words = mute.test(line) ? "" : plainLine(line.slice(0, 3 * max));
    if (!words) continue;
    title = title ? `${title} ${words}` : words;
    if (!title.endsWith(":")) break;
  }
  return title.length <= max ? title : `${cut(title, max - 1)}…`;
}
