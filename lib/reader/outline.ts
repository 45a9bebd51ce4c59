import type { Call, Result } from "#lib/reader/call";
import { piecesOf } from "#lib/reader/kind";
import type { ReaderMessage } from "#lib/reader/message";
import { outcomeOf } from "#lib/reader/outcome";
import { firstLine } from "#lib/reader/text";
import { describeTool, kindOfCall } from "#lib/reader/tools/tools";

/** The outline of a whole session: what the person asked, the files that changed, and what failed. */
export type Outline = {
  turns: { position: number; title: string }[];
  files: { path: string; added: number; removed: number; positions: number[] }[];
  errors: { position: number; title: string }[];
};

export type Outliner = { add: (message: ReaderMessage) => void; result: () => Outline };

/** Calls wait for their results; when more wait, the oldest are taken without one. */
const maxOpen = 1000;

/** Makes an outline message by message, in the order of positions; keeps only what the outline needs. */
export function makeOutliner(): Outliner {
  const turns: Outline["turns"] = [];
  const errors: Outline["errors"] = [];
  const files = new Map<string, Outline["files"][number]>();
  const open = new Map<string, { call: Call; position: number }>();

  const take = (call: Call, result: Result | undefined, position: number) => {
    const kind = kindOfCall(call);
    if (kind !== "edit" && kind !== "write" && outcomeOf(result).status !== "failed") return;
    const part = describeTool(call, result);
    if (part.status === "failed") errors.push({ position, title: firstLine(part.title || call.name, 120) });
    for (const { path, added, removed } of part.files ?? []) {
      const file = files.get(path) ?? { path, added: 0, removed: 0, positions: [] };
      files.set(path, file);
      file.added += added;
      file.removed += removed;
      if (file.positions.at(-1) !== position) file.positions.push(position);
    }
  };
  const close = (key: string, result?: Result) => {
    const waiting = open.get(key);
    open.delete(key);
    if (waiting) take(waiting.call, result, waiting.position);
  };

  const add = (message: ReaderMessage) => {
    const { position } = message;
    for (const piece of piecesOf(message)) {
      if (piece.type === "text" && piece.kind === "user") turns.push({ position, title: firstLine(piece.text, 120) });
      else if (piece.type === "result") close(piece.result.callId ?? "", piece.result);
      else if (piece.type === "call" && (piece.result || piece.call.callId === undefined))
        take(piece.call, piece.result, position);
      else if (piece.type === "call") {
        const [oldest] = open.size >= maxOpen ? open.keys() : [];
        if (oldest !== undefined) close(oldest);
        open.set(piece.call.callId ?? "", { call: piece.call, position });
      }
    }
  };
  const result = () => {
    for (const key of [...open.keys()]) close(key);
    return {
      turns,
      files: [...files.values()].sort((a, b) => (a.positions[0] ?? 0) - (b.positions[0] ?? 0)),
      errors: errors.sort((a, b) => a.position - b.position),
    };
  };
  return { add, result };
}

/** The outline of messages that are all in memory. */
export function outlineOf(messages: Iterable<ReaderMessage>): Outline {
  const outliner = makeOutliner();
  for (const message of messages) outliner.add(message);
  return outliner.result();
}
