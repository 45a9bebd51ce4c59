import type { Piece } from "#lib/reader/call";
import { makeTouching, type Session, type Touch } from "#lib/reader/files/touches";
import { isExpansion, nameOfTurn } from "#lib/reader/injected";
import type { ReaderMessage } from "#lib/reader/message";
import { outcomeOf } from "#lib/reader/outcome";
import { makePairing } from "#lib/reader/pairing";
import { firstLine } from "#lib/reader/text";
import { describeTool } from "#lib/reader/tools/tools";

/** The outline of a whole session: what the person asked, the files that it read and changed, and what failed. */
export type Outline = {
  turns: { position: number; title: string }[];
  files: FileSum[];
  /** How many files there are; `files` has the first of them. */
  fileCount: number;
  errors: { position: number; title: string }[];
};

/** A file with all that was done to it: changed ones come first. */
export type FileSum = {
  path: string;
  reads: number;
  edits: number;
  added: number;
  removed: number;
  firstPosition: number;
  lastPosition: number;
  /** Where it was changed, else where it was read: the first places. */
  places: { position: number; added: number; removed: number }[];
};

export type Outliner = { add: (message: ReaderMessage) => void; result: () => Outline };

/** Makes an outline message by message, in the order of positions; keeps only what the outline needs. */
export function makeOutliner(session: Session): Outliner {
  const turns: Outline["turns"] = [];
  const errors: Outline["errors"] = [];
  const touching = makeTouching(session);
  const pairing = makePairing((placed, result) => {
    touching.take(placed, result);
    if (outcomeOf(result).status !== "failed") return;
    const part = describeTool(placed.call, result);
    if (part.status === "failed")
      errors.push({ position: placed.position, title: firstLine(part.title || placed.call.name, 120) });
  });
  let before: Piece | undefined;
  const add = (message: ReaderMessage) => {
    const { position } = message;
    touching.see(position);
    for (const piece of pairing.add(message)) {
      const told = isExpansion(before, piece);
      if (piece.type === "text" && !told && isTurn(piece))
        turns.push({ position, title: piece.kind === "command" ? piece.title : nameOfTurn(piece.text) });
      if (!told && piece.type !== "output") before = piece;
    }
  };
  const result = () => {
    const waiting = pairing.waiting();
    pairing.end();
    return {
      turns,
      ...sumFiles(touching.touches(waiting)),
      errors: errors.sort((a, b) => a.position - b.position),
    };
  };
  return { add, result };
}

/** What begins a turn: what a person wrote, or a command that somebody wrote for the agent; not one to the program. */
const isTurn = ({ kind, own }: Extract<Piece, { type: "text" }>) =>
  kind === "user" || (kind === "command" && own === true);

/** The outline of messages that are all in memory. */
export function outlineOf(messages: Iterable<ReaderMessage>, session: Session = unknownSession): Outline {
  const outliner = makeOutliner(session);
  for (const message of messages) outliner.add(message);
  return outliner.result();
}

const unknownSession: Session = { source: "unknown", metadata: null };

/** More places of a file than anyone looks through, and more files than a list shows. */
export const maxShown = { places: 20, files: 500 };

/** Sums up what was done to each file: changed files first, each group in the order of their first places. */
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
