import "server-only";
import { v7 as uuid } from "uuid";
import { pool } from "#lib/db/client";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import {
  type NewUpload,
  type Repeated,
  type Sender,
  storeRepeated,
  storeWhileReading,
} from "#lib/ingest/accept/large-upload";
import { storeSmall } from "#lib/ingest/accept/small-uploads";
import { type Encoding, encodings, inflate } from "#lib/ingest/decode/inflate";
import type { Received } from "#lib/ingest/decode/operations";
import { decodeHere, smallBytes, withThread } from "#lib/ingest/decode/thread-pool";
import { idempotencyKey as idempotencyKeySchema } from "#lib/ingest/schema";
import { countValues } from "#lib/json";
import { countUpload } from "#lib/observability/metrics";

/** The one encoding of a body. @throws SpoorError `unsupported_encoding` for others and for several at once */
export function encodingOf(header: string | null): Encoding {
  const name = header?.trim().toLowerCase() || "identity";
  const encoding = encodings.find((known) => known === name || (known === "gzip" && name === "x-gzip"));
  if (!encoding) {
    throw new SpoorError("unsupported_encoding", "Content-Encoding must be one of gzip, br or zstd, or absent.");
  }
  return encoding;
}

/** The key of a request that may be sent again. @throws SpoorError `invalid_request` */
export function idempotencyKeyOf(header: string | null): string | undefined {
  if (header === null) return undefined;
  const parsed = idempotencyKeySchema.safeParse(header);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new SpoorError("invalid_request", `Idempotency-Key ${issue?.message}.`);
}

/**
 * Checks a batch as it came over the wire, and stores it with its job and queue entry in one transaction.
 * When this returns, all three are on disk.
 *
 * @param body is handed to the decoding thread, with its memory where that is its own: it is gone afterwards.
 * @returns the job's id; for an idempotency key that came before with the same bytes, that job's.
 * @throws SpoorError `payload_too_large`, `invalid_json`, `invalid_request`, `idempotency_key_reused`.
 */
export async function acceptBatch(
  sender: Sender,
  body: Buffer,
  encoding: Encoding,
  idempotencyKey: string | undefined,
): Promise<string> {
  const upload = { ...sender, jobId: uuid(), idempotencyKey };
  const small = inflateSmall(body, encoding);
  const { received, storing } = await (small ? readSmall(upload, small) : readLarge(upload, body, encoding));
  if (!(await storing)) return earlierJob(sender.userId, idempotencyKey ?? "", received);
  countUpload(received.bytes);
  return upload.jobId;
}

type Upload = Omit<NewUpload, keyof Received>;
/** A body that was read, and whether it could be stored, which may still be under way. */
type Reading = { received: Received; storing: Promise<boolean> };

function begun(received: Received, storing: Promise<boolean>): Reading {
  storing.catch(() => {}); // is thrown where it is waited for
  return { received, storing };
}

async function readSmall(upload: Upload, body: Uint8Array): Promise<Reading> {
  const input = { body, encoding: "identity" as const, maxBytes: env().INGEST_MAX_BYTES };
  const received = await decodeHere().call("judge", input);
  return begun(received, storeSmall({ ...upload, ...received }));
}

/** A body that came before, and is still kept, is not judged again. */
function readLarge(upload: Upload, body: Buffer, encoding: Encoding): Promise<Reading> {
  const input = { body, encoding, maxBytes: env().INGEST_MAX_BYTES };
  const moved = transferable(body);
  return withThread(upload.userId, async (thread) => {
    try {
      const received = await thread.call("receive", input, moved);
      const whole = { ...upload, ...received };
      const repeated = await sameUpload(upload.userId, received.sha256);
      if (repeated) return begun(received, storeRepeated(whole, repeated));
      const packing = thread.call("pack", undefined);
      const reading = thread.call("read", undefined);
      const result = begun(received, storeWhileReading(whole, packing, reading));
      // The thread is another's as soon as both have ended; what came of the body is told by the storing.
      await Promise.allSettled([packing, reading]);
      return result;
    } finally {
      if (!thread.broken) await thread.call("close", undefined);
    }
  });
}

/** How many values a body may have that is judged on the event loop: 64 KiB of `{}` take it 70 ms to refuse. */
const maxValuesHere = 2000;

/** The decoded bytes of a small body; undefined for others. @throws SpoorError `invalid_request` */
function inflateSmall(body: Uint8Array, encoding: Encoding): Uint8Array | undefined {
  if (body.byteLength > smallBytes) return undefined;
  try {
    const decoded = inflate(body, encoding, smallBytes);
    return countValues(decoded) > maxValuesHere ? undefined : decoded;
  } catch (error) {
    if (error instanceof SpoorError && error.code === "payload_too_large") return undefined;
    throw error;
  }
}

async function sameUpload(userId: string, sha256: Uint8Array): Promise<Repeated | undefined> {
  const { rows } = await pool().query<Repeated>(
    `select id as earlier, traces_received as traces, messages_received as messages from ingest_job job
     where user_id = $1 and body_sha256 = $2
       and exists (select 1 from upload where upload.user_id = job.user_id and job_id = job.id and manifest is not null)
     order by id desc limit 1`,
    [userId, Buffer.from(sha256)],
  );
  return rows[0];
}

/** Memory that is the body's alone can be moved to the thread instead of being copied. */
function transferable({ buffer, byteLength }: Buffer): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

async function earlierJob(userId: string, idempotencyKey: string, { sha256 }: Received): Promise<string> {
  const { rows } = await pool().query<{ id: string; same: boolean }>(
    "select id, body_sha256 = $3 as same from ingest_job where user_id = $1 and idempotency_key = $2",
    [userId, idempotencyKey, Buffer.from(sha256)],
  );
  const [job] = rows;
  if (!job) throw new SpoorError("unavailable", "What this request repeats was just removed. Send it again.");
  if (!job.same) {
    throw new SpoorError("idempotency_key_reused", "This Idempotency-Key came before with other bytes. Use a new one.");
  }
  return job.id;
}
