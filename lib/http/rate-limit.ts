import "server-only";
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { pool } from "#lib/db/client";

type Window = { points: number; seconds: number };

const globals = globalThis as typeof globalThis & { spoorLimiters?: Map<string, RateLimiterPostgres> };

/**
 * Counts one call under `name` for `key` (an address, a code's hash, a device), over all web processes.
 *
 * @returns undefined while the calls in the window are at most `points`, otherwise the seconds until the next is let in.
 */
export async function overLimit(name: string, key: string, window: Window): Promise<number | undefined> {
  try {
    await limiterOf(name, window).consume(key);
    return undefined;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    throw refused;
  }
}

/** Whether a key is past its limit already. It counts nothing, where only what goes wrong is to count. */
export async function isOverLimit(name: string, key: string, window: Window): Promise<boolean> {
  const counted = await limiterOf(name, window).get(key);
  return counted !== null && counted.consumedPoints > window.points;
}

/** Takes back one counted call, where only those that went wrong are to count. */
export async function uncount(name: string, key: string, window: Window): Promise<void> {
  await limiterOf(name, window).reward(key, 1);
}

/** Removes counters whose window is over. */
export async function purgeLimits(): Promise<void> {
  await pool().query("delete from rate_limit where expire < extract(epoch from now()) * 1000");
}

function limiterOf(name: string, { points, seconds }: Window): RateLimiterPostgres {
  globals.spoorLimiters ??= new Map();
  const known = globals.spoorLimiters.get(name);
  if (known) return known;
  const limiter = new RateLimiterPostgres({
    storeClient: pool(),
    storeType: "pool",
    tableName: "rate_limit",
    tableCreated: true,
    keyPrefix: name,
    points,
    duration: seconds,
    // Past the limit, this process answers from memory until the window ends.
    inMemoryBlockOnConsumed: points + 1,
    clearExpiredByTimeout: false,
  });
  globals.spoorLimiters.set(name, limiter);
  return limiter;
}
