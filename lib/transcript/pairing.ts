import type { Call, MessagePiece, ToolResult } from "#lib/transcript/call";
import { splitPieces } from "#lib/transcript/kind";
import type { ReaderMessage } from "#lib/transcript/message";

/** `folder` is the message's own; `isCopy` means copied from another session. */
export type Placed = {
  call: Call;
  position: number;
  folder: string | undefined;
  createdAt: string | null;
  isCopy: boolean;
};

/** Beyond these, a waiting call is taken without its result. */
const max = { calls: 1000, messages: 1000 };

export type Pairing = {
  add(message: ReaderMessage): MessagePiece[];
  waiting(): Placed[];
  end(): void;
};

/**
 * @param take called with each call once its result is known or given up
 * @param awaits whether a call's result matters; by default all do
 */
export function makePairing(
  take: (placed: Placed, result: ToolResult | undefined) => void,
  awaits: (call: Call) => boolean = () => true,
): Pairing {
  const open = new Map<string, Placed>();
  let before = -1;

  const close = (key: string, result?: ToolResult) => {
    const placed = open.get(key);
    open.delete(key);
    if (placed) take(placed, result);
  };
  const closeOld = (position: number) => {
    for (const [key, placed] of open) {
      if (open.size <= max.calls && placed.position > position - max.messages) break;
      close(key);
    }
  };
  const add = (message: ReaderMessage) => {
    const { position, createdAt, metadata } = message;
    const isCopy = metadata?.replayed === true;
    const folder = typeof metadata?.cwd === "string" ? metadata.cwd : undefined;
    const pieces = splitPieces(message);
    for (const piece of pieces) {
      if (piece.type === "result") close(piece.result.callId ?? `after ${before}`, piece.result);
      if (piece.type !== "call") continue;
      const placed = { call: piece.call, position, folder, createdAt, isCopy };
      if (piece.result) take(placed, piece.result);
      else if (awaits(piece.call)) {
        const key = piece.call.callId ?? `after ${position}`;
        close(key);
        open.set(key, placed);
      }
    }
    if (pieces.some(({ type }) => type !== "result" && type !== "output")) {
      if (before !== position) close(`after ${before}`);
      before = position;
    }
    closeOld(position);
    return pieces;
  };
  const end = () => {
    for (const key of [...open.keys()]) close(key);
  };
  return { add, waiting: () => [...open.values()], end };
}
