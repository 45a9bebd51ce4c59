// Runs in the decoding thread: a body between its receipt and its storing.
import { type Reading, readMaskedInTurns } from "#lib/ingest/decode/masked";
import { PackingAlong, packBody } from "#lib/ingest/decode/packing";
import type { Policy } from "#lib/masking/masker";
import { free } from "#lib/memory";

type OwnBytes = Uint8Array<ArrayBuffer>;

/** A body that was received; `isBeingPacked` while, or for all that is known, a thread of Node's reads its memory. */
export type ReceivedBody = {
  body: Uint8Array;
  decoded: Uint8Array;
  isZstd: boolean;
  isBeingPacked: boolean;
  packed?: Uint8Array;
};

/** Reads a body; where it `isPacked` and plain, it is `packed` afterwards. */
export async function readAndPack(one: ReceivedBody, policy: Policy | undefined, isPacked: boolean): Promise<Reading> {
  if (!isPacked || one.isZstd) return readMaskedInTurns(one.decoded, policy);
  const along = new PackingAlong(one.decoded);
  one.isBeingPacked = true;
  try {
    const reading = await readMaskedInTurns(one.decoded, policy, along.follow);
    if (!reading.isPlain) return reading;
    const { masked } = reading;
    one.packed = await along.end(masked && "edits" in masked ? masked.edits : []);
    one.isBeingPacked = false;
    return reading;
  } finally {
    if (!one.packed) along.abandon();
  }
}

export async function packReceived(one: ReceivedBody): Promise<OwnBytes> {
  if (one.packed) return ownAlone(one.packed);
  if (one.isZstd) return own(one.body);
  one.isBeingPacked = true;
  const packed = await packBody(one.decoded);
  one.isBeingPacked = false;
  return ownAlone(packed);
}

/** Bytes in a buffer of their own: a shared one cannot be transferred to another thread. */
export function own(bytes: Uint8Array): OwnBytes {
  const { buffer, byteLength } = bytes;
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return whole ? (bytes as OwnBytes) : new Uint8Array(bytes);
}

/** As `own`, for bytes that nothing else uses: their former buffer is freed at once. */
function ownAlone(bytes: Uint8Array): OwnBytes {
  const alone = own(bytes);
  if (alone !== bytes) free(bytes);
  return alone;
}
