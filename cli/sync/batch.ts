import { createHash } from "node:crypto";
import type { Session } from "../sessions/session.ts";
import type { Compressor } from "./compression.ts";

const head = Buffer.from('{"traces":[');
const comma = Buffer.from(",");
const tail = Buffer.from("]}");

/** Sessions that travel in one body. */
export type Batch = { sessions: Session[]; bytes: number };

const maxBytes = 8 * 1024 * 1024;

/** Gathers sessions into batches: few requests, and no memory that grows with what there is to send. */
export class Batcher {
  readonly #max: { traces: number; bytes: number };
  #batch: Batch = { sessions: [], bytes: 0 };

  /** @param limits the server's: traces and decoded bytes of one body */
  constructor(limits: { traces: number; decodedBytes: number }) {
    this.#max = { traces: limits.traces, bytes: Math.min(maxBytes, limits.decodedBytes) };
  }

  /** @returns the batches that are complete now */
  add(session: Session): Batch[] {
    if ("packed" in session.body) return [{ sessions: [session], bytes: session.bytes }];
    const { sessions, bytes } = this.#batch;
    const isFull = sessions.length >= this.#max.traces || bytes + session.bytes + 16 > this.#max.bytes;
    const complete = isFull ? this.flush() : [];
    this.#batch.sessions.push(session);
    this.#batch.bytes += session.bytes + 1;
    return complete;
  }

  /** @returns what is left, none where that is nothing */
  flush(): Batch[] {
    const batch = this.#batch;
    this.#batch = { sessions: [], bytes: 0 };
    return batch.sessions.length > 0 ? [batch] : [];
  }
}

/** The body of `POST /api/ingest` for a batch. */
export async function bodyOf({ sessions }: Batch, compressor: Compressor): Promise<Buffer<ArrayBuffer>> {
  const [first] = sessions;
  if (first && "packed" in first.body) {
    return Buffer.concat([compressor.piece(head), ...first.body.packed, compressor.piece(tail)]);
  }
  const plain = sessions.flatMap(({ body }, index) => [...(index > 0 ? [comma] : []), ...piecesOf(body)]);
  const packed = await compressor.whole(Buffer.concat([head, ...plain, tail]));
  return Buffer.concat([packed]);
}

const piecesOf = (body: Session["body"]): Buffer[] => ("plain" in body ? body.plain : body.packed);

/**
 * The `Idempotency-Key` of a batch: the same for the same sessions, sent after the same ones.
 *
 * @param hashBefore what was sent of each session last: a session that became what it once was is sent anew
 */
export function idempotencyKeyOf({ sessions }: Batch, hashBefore: (session: Session) => string | undefined): string {
  const hash = createHash("sha256");
  for (const session of sessions) hash.update(`${session.hash}\n${hashBefore(session) ?? ""}\n`);
  return `spoor-${hash.digest("base64url")}`;
}
