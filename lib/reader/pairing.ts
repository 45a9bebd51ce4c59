import type { Call, Piece, Result } from "#lib/reader/call";
import { splitPieces } from "#lib/reader/kind";
import type { ReaderMessage } from "#lib/reader/message";

/** A call where it stands. `folder` is the message's own, where it names one; `isCopy`: it was copied from another session. */
export type Placed = {
  call: Call;
  position: number;
  folder: string | undefined;
  createdAt: string | null;
  isCopy: boolean;
};

/** Calls wait for their results: at most so many, and for at most so many messages. Then they are taken without one. */
const max = { calls: 1000, messages: 1000 };

export type Pairing = {
  /** @returns the message's pieces */
  add(message: ReaderMessage): Piece[];
  /** The calls that still wait, in order. */
  waiting(): Placed[];
  /** Takes the calls that still wait. */
  end(): void;
};

/**
 * Pairs calls with their results, message by message.
 *
 * @param take called with each call when its result is known, or won't come
 * @param awaits whether a call's result matters; without it, all do
 */
export function makePairing(
  take: (placed: Placed, result: Result | undefined) => void,
  awaits: (call: Call) => boolean = () => true,
): Pairing {
  const open = new Map<string, Placed>();
  /** Of the last message with something of its own: a result that names no call is of a call there. */
  let before = -1;

  const close = (key: string, result?: Result) => {
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
