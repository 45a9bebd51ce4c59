import { createHash } from "node:crypto";
import type { SentState, Session } from "../sessions/session.ts";
import type { Compressor } from "./compression.ts";

const head = Buffer.from('{"traces":[');
const comma = Buffer.from(",");
const tail = Buffer.from("]}");

export type Batch = { sessions: Session[]; bytes: number };

const maxBytes = 8 * 1024 * 1024;

export class Batcher {
  readonly #max: { traces: number; bytes: number };
  #batch: Batch = { sessions: [], bytes: 0 };

  constructor(limits: { traces: number; decodedBytes: number }) {
    this.#max = { traces: limits.traces, bytes: Math.min(maxBytes, limits.decodedBytes) };
  }

  add(session: Session): Batch[] {
    if ("compressed" in session.body || !session.isLast) return [{ sessions: [session], bytes: session.bytes }];
    const { sessions, bytes } = this.#batch;
    const isFull = sessions.length >= this.#max.traces || bytes + session.bytes + 16 > this.#max.bytes;
    const complete = isFull ? this.flush() : [];
    this.#batch.sessions.push(session);
    this.#batch.bytes += session.bytes + 1;
    return complete;
  }

  flush(): Batch[] {
    const batch = this.#batch;
    this.#batch = { sessions: [], bytes: 0 };
    return batch.sessions.length > 0 ? [batch] : [];
  }
}

export async function encodeBatch({ sessions }: Batch, compressor: Compressor): Promise<Buffer<ArrayBuffer>> {
  const [first] = sessions;
  if (first && "compressed" in first.body) {
    return Buffer.concat([compressor.compressPiece(head), ...first.body.compressed, compressor.compressPiece(tail)]);
  }
  const plain = sessions.flatMap(({ body }, index) => [...(index > 0 ? [comma] : []), ...getPieces(body)]);
  const compressed = await compressor.compress(Buffer.concat([head, ...plain, tail]));
  return Buffer.concat([compressed]);
}

const getPieces = (body: Session["body"]): Buffer[] => ("plain" in body ? body.plain : body.compressed);

/**
 * A retry has the same key.
 *
 * @param previous the session's last sent state, so that a session changed back gets a new key
 */
export function idempotencyKey({ sessions }: Batch, previous: (session: Session) => SentState | undefined): string {
  const hash = createHash("sha256");
  for (const session of sessions) {
    const { source, sourceId, append, state } = session;
    const before = previous(session);
    hash.update(
      `${JSON.stringify([source, sourceId])} ${append ?? ""} ${state.hash} ${state.digest} ${state.salt ?? ""}\n${before?.hash ?? ""} ${before?.digest ?? ""}\n`,
    );
  }
  return `spoor-${hash.digest("base64url")}`;
}
