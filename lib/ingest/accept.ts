import "server-only";
import { v7 as uuid } from "uuid";
import { pool, type Queryable, transaction } from "#lib/db/client";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import { withThread } from "#lib/ingest/decode";
import { type Encoding, encodings } from "#lib/ingest/inflate";
import { idempotencyKey as idempotencyKeySchema } from "#lib/ingest/schema";
import type { Checked, Received } from "#lib/ingest/thread";
import { limits } from "#lib/limits";
import { enqueue, prepareQueue, queues } from "#lib/queue";

const { ingest } = limits;

/** A sender as an upload notes it. */
export type Sender = { userId: string; machine: string };

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

const globals = globalThis as typeof globalThis & { spoorBytesInFlight?: Map<string, number> };

/**
 * Runs `work` with a share of the process's budget of bytes being received; nothing has been read before.
 *
 * @param bytes how many the body may turn out to have.
 * @throws SpoorError `overloaded` where the budget is used up or the sender's queue is too long.
 */
export async function admitted<T>(userId: string, bytes: number, work: () => Promise<T>): Promise<T> {
  globals.spoorBytesInFlight ??= new Map();
  const byUser = globals.spoorBytesInFlight;
  const own = byUser.get(userId) ?? 0;
  const all = [...byUser.values()].reduce((sum, one) => sum + one, 0);
  // Half of the budget is the most that one sender may hold, so that nobody shuts out the others.
  if (all > 0 && (all + bytes > ingest.inFlightBytes || own + bytes > ingest.inFlightBytes / 2)) {
    throw new SpoorError("overloaded", "The server is receiving as much as it can hold. Nothing was read; try again.", {
      retryAfterSeconds: 5,
    });
  }
  byUser.set(userId, own + bytes);
  try {
    await refuseLongQueue(userId);
    return await work();
  } finally {
    const left = (byUser.get(userId) ?? 0) - bytes;
    if (left > 0) byUser.set(userId, left);
    else byUser.delete(userId);
  }
}

async function refuseLongQueue(userId: string): Promise<void> {
  const { rows } = await pool().query<{ waiting: number }>(
    `select count(*)::int as waiting
     from (select 1 from ingest_job where user_id = $1 and status = 'queued' limit $2) as open`,
    [userId, ingest.queuedJobsPerUser],
  );
  if ((rows[0]?.waiting ?? 0) < ingest.queuedJobsPerUser) return;
  throw new SpoorError("overloaded", "Too many of your uploads wait to be processed. Nothing was read; try again.", {
    retryAfterSeconds: 30,
  });
}

/** A body that was read: how it is to be stored, either as it was found to be or as the upload of an earlier job. */
type Read = Received & (Checked | { earlier: EarlierJob });
type EarlierJob = { id: string; traces: number; messages: number };

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
  await prepareQueue();
  const stored = await transaction(async (tx) => {
    await tx.query("set local synchronous_commit = on");
    if (idempotencyKey) {
      await tx.query(
        `update ingest_job set idempotency_key = null
         where user_id = $1 and idempotency_key = $2 and created_at < now() - make_interval(days => $3)`,
        [sender.userId, idempotencyKey, ingest.idempotencyKeyDays],
      );
    }
    const jobId = uuid();
    const { traces, messages } = "earlier" in read ? read.earlier : read;
    const { rowCount } = await tx.query(
      `insert into ingest_job (user_id, id, machine, bytes, body_sha256, idempotency_key, traces_received, messages_received)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, idempotency_key) do nothing`,
      [
        sender.userId,
        jobId,
        sender.machine,
        read.bytes,
        Buffer.from(read.sha256),
        idempotencyKey ?? null,
        traces,
        messages,
      ],
    );
    if (rowCount === 0) return undefined;
    await storeUpload(tx, { userId: sender.userId, jobId }, read);
    await enqueue(tx, queues.ingest, { userId: sender.userId, jobId });
    return jobId;
  });
  return stored ?? earlierJob(sender.userId, idempotencyKey ?? "", read);
}

/** From this size on it is worth a question whether the very same body came before, in bytes on the wire. */
const repeatBytes = 64 * 1024;

/** Reads and judges a body; one that came before, and is still kept, was judged then. */
async function readBody(userId: string, body: Buffer<ArrayBuffer>, encoding: Encoding): Promise<Read> {
  const mayRepeat = body.byteLength >= repeatBytes;
  const input = { body, encoding, maxBytes: env().INGEST_MAX_BYTES };
  const moved = transferable(body);
  return withThread(async (thread) => {
    if (!mayRepeat) return thread.call("judge", input, moved);
    try {
      const received = await thread.call("receive", input, moved);
      const earlier = await sameUpload(userId, received.sha256);
      return earlier ? { ...received, earlier } : { ...received, ...(await thread.call("check", undefined)) };
    } finally {
      if (!thread.broken) await thread.call("close", undefined);
    }
  });
}

async function sameUpload(userId: string, sha256: Uint8Array): Promise<EarlierJob | undefined> {
  const { rows } = await pool().query<EarlierJob>(
    `select id, traces_received as traces, messages_received as messages from ingest_job job
     where user_id = $1 and body_sha256 = $2
       and exists (select 1 from upload where upload.user_id = job.user_id and job_id = job.id and manifest is not null)
     order by id desc limit 1`,
    [userId, Buffer.from(sha256)],
  );
  return rows[0];
}

async function storeUpload(tx: Queryable, { userId, jobId }: { userId: string; jobId: string }, read: Read) {
  if (!("earlier" in read)) {
    await tx.query("insert into upload (user_id, job_id, body, manifest) values ($1, $2, $3, $4)", [
      userId,
      jobId,
      Buffer.from(read.stored.buffer),
      Buffer.from(read.manifest.buffer),
    ]);
    return;
  }
  const { rowCount } = await tx.query(
    `insert into upload (user_id, job_id, body, manifest)
     select user_id, $2, body, manifest from upload where user_id = $1 and job_id = $3`,
    [userId, jobId, read.earlier.id],
  );
  if (rowCount === 0) throw new SpoorError("unavailable", "The upload that this one repeats was just removed.");
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
  if (!job) throw new SpoorError("unavailable", "The earlier request with this Idempotency-Key was just taken back.");
  if (!job.same) {
    throw new SpoorError("idempotency_key_reused", "This Idempotency-Key came before with other bytes. Use a new one.");
  }
  return job.id;
}
