import "server-only";
import { v7 as uuid } from "uuid";
import { pool } from "#lib/db/client";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import { decodeHere, smallBytes, withThread } from "#lib/ingest/decode";
import { type Encoding, encodings, inflate } from "#lib/ingest/inflate";
import type { Received } from "#lib/ingest/operations";
import { idempotencyKey as idempotencyKeySchema } from "#lib/ingest/schema";
import { type Repeated, type Sender, storeUpload, type UploadContent } from "#lib/ingest/store";

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
 * @param body is handed to the decoding thread: its memory is gone afterwards.
 * @returns the job's id; for an idempotency key that came before with the same bytes, that job's.
 * @throws SpoorError `payload_too_large`, `invalid_json`, `invalid_request`, `idempotency_key_reused`.
 */
export async function acceptBatch(
  sender: Sender,
  body: Buffer<ArrayBuffer>,
  encoding: Encoding,
  idempotencyKey: string | undefined,
): Promise<string> {
  const read = await readBody(sender.userId, body, encoding);
  const jobId = uuid();
  const isStored = await storeUpload({ ...sender, ...read, jobId, idempotencyKey });
  return isStored ? jobId : earlierJob(sender.userId, idempotencyKey ?? "", read);
}

/** From this size on it is worth a question whether the very same body came before, in bytes on the wire. */
const repeatBytes = 64 * 1024;

/** Reads and judges a body; one that came before, and is still kept, was judged then. */
async function readBody(userId: string, body: Buffer<ArrayBuffer>, encoding: Encoding): Promise<UploadContent> {
  const small = inflateSmall(body, encoding);
  const maxBytes = env().INGEST_MAX_BYTES;
  if (small) return decodeHere().call("judge", { body: small, encoding: "identity", maxBytes });
  const mayRepeat = body.byteLength >= repeatBytes;
  const input = { body, encoding, maxBytes };
  const moved = transferable(body);
  return withThread(userId, async (thread) => {
    if (!mayRepeat) return thread.call("judge", input, moved);
    try {
      const received = await thread.call("receive", input, moved);
      const earlier = await sameUpload(userId, received.sha256);
      return { ...received, ...(earlier ?? (await thread.call("check", undefined))) };
    } finally {
      if (!thread.broken) await thread.call("close", undefined);
    }
  });
}

/** The decoded bytes of a small body; undefined for others. @throws SpoorError `invalid_request` */
function inflateSmall(body: Uint8Array, encoding: Encoding): Uint8Array | undefined {
  if (body.byteLength > smallBytes) return undefined;
  try {
    return inflate(body, encoding, smallBytes);
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
function transferable({ buffer, byteLength }: Buffer<ArrayBuffer>): ArrayBuffer[] {
  return buffer.byteLength === byteLength ? [buffer] : [];
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
