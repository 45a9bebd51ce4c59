import "server-only";
import type { Pool } from "pg";
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { pool } from "#lib/db/client";
import { deleteEndedLimits } from "#lib/http/sql";

type Window = { points: number; seconds: number };

type Limiters = Map<string, RateLimiterPostgres>;

const limitersByPool = oncePerProcess("limiters", () => new WeakMap<Pool, Limiters>());

/**
 * @param points bytes if the window is a budget of bytes
 * @returns the seconds until the next call is allowed; undefined if this one is
 */
export async function overLimit(name: string, key: string, window: Window, points = 1): Promise<number | undefined> {
  const refused = await consume(getLimiter(name, window), key, window, points);
  return refused && secondsUntil(refused);
}

/**
 * For limits on failures: `uncount` takes back a success, and a refused attempt is not counted.
 * @returns as `overLimit`
 */
export async function countAttempt(name: string, key: string, window: Window): Promise<number | undefined> {
  // Nothing would take back a block in memory.
  const limiter = getLimiter(name, window, 0);
  const counted = await read(limiter, key, window);
  if (counted && counted.consumedPoints >= window.points) return secondsUntil(counted);
  const refused = await consume(limiter, key, window);
  if (!refused) return undefined;
  await limiter.reward(key, 1);
  return secondsUntil(refused);
}

export async function isOverLimit(name: string, key: string, window: Window): Promise<boolean> {
  const counted = await read(getLimiter(name, window), key, window);
  return counted !== null && counted.consumedPoints > window.points;
}

export async function getWaitSeconds(name: string, key: string, window: Window): Promise<number | undefined> {
  const counted = await read(getLimiter(name, window), key, window);
  if (counted === null || counted.consumedPoints < window.points) return undefined;
  return Math.max(1, Math.ceil(counted.msBeforeNext / 1000));
}

export async function uncount(name: string, key: string, window: Window): Promise<void> {
  await getLimiter(name, window).reward(key, 1);
}

export const purgeLimits = () => deleteEndedLimits(Date.now());

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

async function read(limiter: RateLimiterPostgres, key: string, window: Window): Promise<RateLimiterRes | null> {
  const counted = await limiter.get(key);
  if (!counted || !endsTooLate(counted, window)) return counted;
  await limiter.delete(key);
  return null;
}

/** Clocks of several web processes may differ by this. */
const differenceMs = 300_000;

/** A window that began while a clock was ahead would last until that time. */
const endsTooLate = ({ msBeforeNext }: RateLimiterRes, { seconds }: Window) =>
  msBeforeNext > seconds * 1000 + differenceMs;

const secondsUntil = ({ msBeforeNext }: RateLimiterRes) => Math.max(1, Math.ceil(msBeforeNext / 1000));

/** @param blockAt the count from which refusals need no query until the window ends */
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
