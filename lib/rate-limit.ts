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
  globals.spoorLimiters ??= new Map();
  let limiter = globals.spoorLimiters.get(name);
  if (!limiter) {
    limiter = new RateLimiterPostgres({
      storeClient: pool(),
      storeType: "pool",
      tableName: "rate_limit",
      tableCreated: true,
      keyPrefix: name,
      points: window.points,
      duration: window.seconds,
      // Past the limit, this process answers from memory until the window ends.
      inMemoryBlockOnConsumed: window.points + 1,
      clearExpiredByTimeout: false,
    });
    globals.spoorLimiters.set(name, limiter);
  }
  try {
    await limiter.consume(key);
    return undefined;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    throw refused;
  }
}
