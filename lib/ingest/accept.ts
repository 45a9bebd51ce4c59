import "server-only";
import { v7 as uuid } from "uuid";
import { pool, transaction } from "#lib/db/client";
import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import { type Encoding, encodings } from "#lib/ingest/batch";
import { withThread } from "#lib/ingest/decode";
import { idempotencyKey as idempotencyKeySchema } from "#lib/ingest/schema";
import type { Checked } from "#lib/ingest/thread";
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
  const input = { body, encoding, maxBytes: env().INGEST_MAX_BYTES };
  const checked = await withThread((thread) => thread.call("check", input, transferable(body)));
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
    const { rowCount } = await tx.query(
      `insert into ingest_job (user_id, id, machine, bytes, body_sha256, idempotency_key, traces_received, messages_received)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id, idempotency_key) do nothing`,
      [
        sender.userId,
        jobId,
        sender.machine,
        checked.bytes,
        checked.sha256,
        idempotencyKey ?? null,
        checked.traces,
        checked.messages,
      ],
    );
    if (rowCount === 0) return undefined;
    const bytes = Buffer.from(checked.stored.buffer);
    await tx.query("insert into upload (user_id, job_id, body) values ($1, $2, $3)", [sender.userId, jobId, bytes]);
    await enqueue(tx, queues.ingest, { userId: sender.userId, jobId });
    return jobId;
  });
  return stored ?? earlierJob(sender.userId, idempotencyKey ?? "", checked);
}

/** Memory that is the body's alone can be moved to the thread instead of being copied. */
function transferable({ buffer, byteLength }: Buffer<ArrayBuffer>): ArrayBuffer[] {
  return buffer.byteLength === byteLength ? [buffer] : [];
}

async function earlierJob(userId: string, idempotencyKey: string, { sha256 }: Checked): Promise<string> {
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
