// Whether there is room for an upload, which is decided before anything of it is read.
import "server-only";
import { pool } from "#lib/db/client";
import { SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";

const { ingest } = limits;

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

/** How many uploads wait, by sender, as it was asked for a moment ago; what was let in since is counted with them. */
const waiting = new Map<string, { jobs: number; askedAt: number }>();
const waitingMs = 1000;

async function refuseLongQueue(userId: string): Promise<void> {
  const known = waiting.get(userId);
  const isFresh = known && performance.now() - known.askedAt < waitingMs;
  const now = isFresh ? known : { jobs: await countWaiting(userId), askedAt: performance.now() };
  if (now.jobs < ingest.queuedJobsPerUser) {
    now.jobs += 1;
    waiting.set(userId, now);
    return;
  }
  waiting.delete(userId);
  throw new SpoorError("overloaded", "Too many of your uploads wait to be processed. Nothing was read; try again.", {
    retryAfterSeconds: 30,
  });
}

async function countWaiting(userId: string): Promise<number> {
  const { rows } = await pool().query<{ waiting: number }>(
    `select count(*)::int as waiting
     from (select 1 from ingest_job where user_id = $1 and status = 'queued' limit $2) as open`,
    [userId, ingest.queuedJobsPerUser],
  );
  return rows[0]?.waiting ?? 0;
}
