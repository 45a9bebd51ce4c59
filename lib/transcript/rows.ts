import type { Call, MessagePiece, ToolResult } from "#lib/transcript/call";
import { groupEdits } from "#lib/transcript/edit-runs";
import { hookBlocks, hookTool } from "#lib/transcript/hooks";
import { isExpansion } from "#lib/transcript/injected";
import { splitPieces } from "#lib/transcript/kind";
import { readTranscript } from "#lib/transcript/markers";
import type { Block, PartKind, ReaderMessage, ReaderRow, RowPart } from "#lib/transcript/message";
import { placePictures, type ShownPicture, textBlocks } from "#lib/transcript/pictures";
import { addTokens, groupQuiet } from "#lib/transcript/quiet";
import { formatQuantity } from "#lib/transcript/text";
import { describeTool } from "#lib/transcript/tools/tools";

export type { ReaderMessage, ReaderRow };

/** A row that a later result may still change. */
type Draft = { message: ReaderMessage; positions: number[]; pieces: MessagePiece[]; tokenCount: number | null };

type OpenCall = { draft: Draft; piece: Extract<MessagePiece, { type: "call" }> };

/** Every position leads to exactly one row. A call without its result among the messages is `pending`. */
export function makeRows(messages: ReaderMessage[]): ReaderRow[] {
  return finish(pair(messages).map(toReaderRow));
}

function pair(messages: ReaderMessage[]): Draft[] {
  const drafts: Draft[] = [];
  const open = new Map<string, OpenCall>();
  let empties: number[] = [];
  for (const message of messages) {
    const { position, tokenCount } = message;
    const given = new Set<Draft>();
    const pieces = placePictures(splitPieces(message), message).filter((piece) => {
      const draft = attach(piece, drafts, open);
      if (draft) given.add(draft);
      return !draft;
    });
    const [target] = given;
    if (pieces.length > 0) {
      const draft = { message, positions: [...empties, position], pieces, tokenCount };
      empties = [];
      drafts.push(draft);
      for (const piece of pieces)
        if (piece.type === "call" && !piece.result)
          open.set(piece.call.callId ?? `after ${position}`, { draft, piece });
    } else if (target) {
      target.positions.push(...(target === drafts.at(-1) ? empties.splice(0) : []), position);
      target.tokenCount = addTokens(target.tokenCount, tokenCount);
    } else empties.push(position);
  }
  return withEmpties(drafts, empties, messages);
}

/** @returns the draft that took it, if any */
function attach(piece: MessagePiece, drafts: Draft[], open: Map<string, OpenCall>): Draft | undefined {
  const before = drafts.at(-1);
  if (piece.type === "output") {
    const [command] = before?.pieces ?? [];
    if (command?.type !== "text" || command.kind !== "command") return undefined;
    before?.pieces.push(piece);
    return before;
  }
  const hooked = findHooked(piece, drafts);
  if (hooked) {
    hooked.pieces.push(piece);
    return hooked;
  }
  if (before && belongsTo(before, piece)) {
    before.pieces.push(piece);
    return before;
  }
  if (piece.type !== "result") return undefined;
  const key = piece.result.callId ?? `after ${before?.message.position}`;
  const call = open.get(key);
  open.delete(key);
  if (call) call.piece.result = piece.result;
  return call?.draft;
}

/** Calls that a hook's notice may follow, among them those that ran at the same time. */
const maxHooked = 20;

function findHooked(piece: MessagePiece, drafts: Draft[]): Draft | undefined {
  const tool = hookTool(piece);
  if (tool === undefined) return undefined;
  return drafts
    .slice(-maxHooked)
    .findLast(({ pieces }) => pieces.some((one) => one.type === "call" && one.call.name === tool));
}

function belongsTo({ pieces: [first] }: Draft, piece: MessagePiece): boolean {
  if (isExpansion(first, piece)) return true;
  return first?.type === "text" && first.kind === "user" && piece.type === "text" && isImage(piece);
}

const isImage = ({ kind, own }: Extract<MessagePiece, { type: "text" }>) => kind === "notice" && own === true;

function withEmpties(drafts: Draft[], empties: number[], messages: ReaderMessage[]): Draft[] {
  if (empties.length === 0) return drafts;
  const last = drafts.at(-1);
  if (last) {
    last.positions.push(...empties);
    return drafts;
  }
  const [message] = messages;
  const title = formatQuantity(empties.length, "empty message");
  if (!message) return [];
  const pieces: MessagePiece[] = [{ type: "text", kind: "notice", title, text: "" }];
  return [{ message, positions: empties, pieces, tokenCount: null }];
}

function toReaderRow({ message, positions, pieces, tokenCount }: Draft): ReaderRow {
  const parts = joinOutput(pieces.map(toPart));
  const { position, role, createdAt, metadata } = message;
  const model = metadata?.model;
  const kind = parts[0]?.kind ?? "unknown";
  const [first] = pieces;
  const turnStart = kind === "user" || (first?.type === "text" && first.kind === "command" && first.own === true);
  return {
    position,
    positions,
    kind,
    role,
    createdAt,
    tokenCount,
    model: typeof model === "string" && model !== "" ? model.slice(0, 256) : null,
    gapBefore: null,
    turnStart,
    failed: parts.some(({ status }) => status === "failed"),
    talk: turnStart || parts.some((part) => part.status === "failed" || talked.has(part.kind)),
    turnChanges: null,
    parts,
    members: [],
  };
}

const talked = new Set<PartKind>(["user", "question"]);

function toPart(piece: MessagePiece): RowPart {
  switch (piece.type) {
    case "call":
      return withPictures(describeTool(piece.call, piece.result), piece.result?.pictures);
    case "result":
      return describeOrphan(piece.result);
    case "output":
      return { kind: "notice", title: "", blocks: [{ type: "output", text: piece.text }] };
    case "transcript":
      return { kind: "subagent", title: "", blocks: [{ type: "transcript", messages: readTranscript(piece.text) }] };
    case "text": {
      const { kind, title, text } = piece;
      return withPictures({ kind, title, blocks: text.trim() === "" ? [] : textBlocks(text, kind) }, piece.pictures);
    }
  }
}

const withPictures = (part: RowPart, pictures: ShownPicture[] = []): RowPart =>
  pictures.length === 0 ? part : { ...part, blocks: [...part.blocks, { type: "pictures", pictures }] };

function describeOrphan(result: ToolResult): RowPart {
  const call: Call = { name: result.name ?? "result", input: {} };
  const part = withPictures(describeTool(call, result), result.pictures);
  return { ...part, ...(!result.name && { title: "Result of a call outside this part" }) };
}

function joinOutput(parts: RowPart[]): RowPart[] {
  const joined: RowPart[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    const [block] = part.blocks;
    const hooked = before && hookBlocks(part);
    if (hooked) {
      before.blocks.push(...hooked);
      continue;
    }
    const belongs =
      (before?.kind === "command" && (part.kind === "notice" || part.kind === "user")) ||
      (before?.kind === "subagent" && part.title === "" && block?.type === "transcript");
    if (belongs) before?.blocks.push(...part.blocks.map(folded));
    else joined.push(named(part));
  }
  return joined;
}

const folded = (block: Block): Block =>
  block.type === "markdown" || block.type === "said"
    ? { type: "markdown", text: block.text, fold: "Message to the agent" }
    : block;

function named(part: RowPart): RowPart {
  const [block] = part.blocks;
  if (part.title !== "") return part;
  if (block?.type === "transcript") return { ...part, title: "A sub-agent" };
  return block?.type === "output" ? { ...part, title: block.text.trim().split("\n", 1)[0]?.slice(0, 200) ?? "" } : part;
}

function finish(rows: ReaderRow[]): ReaderRow[] {
  let since: string | null = null;
  let model: string | null = null;
  for (const row of rows) {
    if (row.createdAt !== null && since !== null)
      row.gapBefore = { since, seconds: Math.round((Date.parse(row.createdAt) - Date.parse(since)) / 1000) };
    since = row.createdAt ?? since;
    const own = row.model;
    if (own === model) row.model = null;
    model = own ?? model;
  }
  markTurns(rows);
  return groupEdits(groupQuiet(rows));
}

function markTurns(rows: ReaderRow[]): void {
  let answer: ReaderRow | undefined;
  let files = new Map<string, { added: number; removed: number }>();
  const end = () => {
    if (answer) {
      answer.talk = true;
      const counts = [...files.values()];
      const total = (side: "added" | "removed") => counts.reduce((sum, count) => sum + count[side], 0);
      if (counts.length > 0)
        answer.turnChanges = { files: counts.length, added: total("added"), removed: total("removed") };
    }
    answer = undefined;
    files = new Map();
  };
  for (const row of rows) {
    if (row.turnStart) end();
    if (row.parts.some(({ kind, blocks }) => kind === "assistant" && blocks.length > 0)) answer = row;
    for (const { path, added, removed } of row.parts.flatMap((part) => part.files ?? [])) {
      const count = files.get(path) ?? { added: 0, removed: 0 };
      files.set(path, { added: count.added + added, removed: count.removed + removed });
    }
  }
  end();
}
