import "server-only";
import type { Pool } from "pg";
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { pool } from "#lib/db/client";
import { deleteEndedLimits } from "#lib/http/sql";

type Window = { points: number; seconds: number };

type Limiters = Map<string, RateLimiterPostgres>;

/** By the pool that they count in: that of a closed database is of no use to the next one. */
const limitersByPool = oncePerProcess("limiters", () => new WeakMap<Pool, Limiters>());

/**
 * Counts a call of `key` (an address, a code's hash, a device) under `name`, over all web processes.
 *
 * @param points what the call counts for: one, or its bytes where the window is a budget of bytes.
 * @returns undefined up to the window's points, then the seconds until the next call is allowed.
 */
export async function overLimit(name: string, key: string, window: Window, points = 1): Promise<number | undefined> {
  const refused = await consume(getLimiter(name, window), key, window, points);
  return refused && secondsUntil(refused);
}

/**
 * Counts an attempt whose outcome is not known yet, for limits that count failures only: `uncount` takes it back where it
 * did not fail. A refused attempt is not counted, so what is counted are failures, and attempts that still run.
 *
 * @returns as `overLimit`.
 */
export async function countAttempt(name: string, key: string, window: Window): Promise<number | undefined> {
  // Without the block in memory, which nothing takes back.
  const limiter = getLimiter(name, window, 0);
  const counted = await read(limiter, key, window);
  if (counted && counted.consumedPoints >= window.points) return secondsUntil(counted);
  const refused = await consume(limiter, key, window);
  if (!refused) return undefined;
  await limiter.reward(key, 1);
  return secondsUntil(refused);
}

/** Whether a key is over its limit, without counting a call: for limits that count failures only. */
export async function isOverLimit(name: string, key: string, window: Window): Promise<boolean> {
  const counted = await read(getLimiter(name, window), key, window);
  return counted !== null && counted.consumedPoints > window.points;
}

/** The seconds until a key that is over its limit may call again; nothing is counted. */
export async function getWaitSeconds(name: string, key: string, window: Window): Promise<number | undefined> {
  const counted = await read(getLimiter(name, window), key, window);
  if (counted === null || counted.consumedPoints < window.points) return undefined;
  return Math.max(1, Math.ceil(counted.msBeforeNext / 1000));
}

/** Takes back one counted call: for limits that count failures only. */
export async function uncount(name: string, key: string, window: Window): Promise<void> {
  await getLimiter(name, window).reward(key, 1);
}

/** Deletes counters whose window is over. */
export const purgeLimits = () => deleteEndedLimits(Date.now());

/** Counts a call. @returns the refusal, where it is one */
async function consume(
  limiter: RateLimiterPostgres,
  key: string,
  window: Window,
  points = 1,
): Promise<RateLimiterRes | undefined> {
  const count = async () => {
    try {
      return { counted: await limiter.consume(key, points) };
    } catch (refused) {
      if (refused instanceof RateLimiterRes) return { counted: refused, refused };
      throw refused;
    }
  };
  const first = await count();
  if (!endsTooLate(first.counted, window)) return first.refused;
  await limiter.delete(key);
  return (await count()).refused;
}

/** What is counted of a key; null where nothing is. */
async function read(limiter: RateLimiterPostgres, key: string, window: Window): Promise<RateLimiterRes | null> {
  const counted = await limiter.get(key);
  if (!counted || !endsTooLate(counted, window)) return counted;
  await limiter.delete(key);
  return null;
}

/** What the clocks of several web processes may differ by. */
const differenceMs = 300_000;

/** Whether a window was begun while the clock was ahead: it would last until that time comes again. */
const endsTooLate = ({ msBeforeNext }: RateLimiterRes, { seconds }: Window) =>
  msBeforeNext > seconds * 1000 + differenceMs;

const secondsUntil = ({ msBeforeNext }: RateLimiterRes) => Math.max(1, Math.ceil(msBeforeNext / 1000));

/** @param blockAt the count from which on this process answers from memory until the window ends. */
function getLimiter(name: string, { points, seconds }: Window, blockAt = points + 1): RateLimiterPostgres {
  const limiters: Limiters = limitersByPool.get(pool()) ?? new Map();
  limitersByPool.set(pool(), limiters);
  const known = limiters.get(name);
  if (known) return known;
  const limiter = new RateLimiterPostgres({
    storeClient: pool(),
    storeType: "pool",
    tableName: "rate_limit",
    tableCreated: true,
    keyPrefix: name,
    points,
    duration: seconds,
    inMemoryBlockOnConsumed: blockAt,
    clearExpiredByTimeout: false,
  });
  limiters.set(name, limiter);
  return limiter;
}
