import pg from "pg";
import { afterAll, expect, inject, onTestFinished, test, vi } from "vitest";
import { setEnv } from "#lib/core/env";
import { closeBeforeSuspension, idleMs } from "#lib/db/pool";

const contextKey = Symbol.for("@vercel/request-context");
const platform = globalThis as { [key: symbol]: unknown };
const onVercel = { VERCEL: "1", DATABASE_URL: inject("postgresUrl"), SETUP_TOKEN: "a set-up token for tests" };
const secret = "a secret for tests only, 32 characters";
const before = Object.fromEntries([...Object.keys(onVercel), "AUTH_SECRET"].map((name) => [name, process.env[name]]));
afterAll(() => {
  setEnv(before);
  delete platform[contextKey];
});

/** A pool as a process has it, and what its platform was asked to stay awake for. */
function makePool(variables: Record<string, string | undefined>) {
  setEnv({ ...variables, AUTH_SECRET: secret });
  const awake: Promise<unknown>[] = [];
  platform[contextKey] = { get: () => ({ waitUntil: (work: Promise<unknown>) => awake.push(work) }) };
  const pool = new pg.Pool({ connectionString: inject("postgresUrl"), idleTimeoutMillis: idleMs() });
  closeBeforeSuspension(pool);
  onTestFinished(() => pool.end());
  return { pool, awake };
}

test("on Vercel a process stays awake until its idle connections are closed, and no longer", async () => {
  const { pool, awake } = makePool(onVercel);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await Promise.all([pool.query("select 1"), pool.query("select 1")]);
  expect([awake.length, pool.totalCount]).toEqual([2, 2]);
  await awake[0]; // the second takes over
  let isAwake = true;
  const asleep = awake[1]?.then(() => {
    isAwake = false;
  });
  await vi.advanceTimersByTimeAsync(4900);
  expect([isAwake, pool.totalCount]).toEqual([true, 2]);
  await vi.advanceTimersByTimeAsync(150);
  expect([isAwake, pool.totalCount]).toEqual([true, 0]);
  await vi.advanceTimersByTimeAsync(100);
  await asleep;
});

test("elsewhere nothing is asked of a platform", async () => {
  const { pool, awake } = makePool({ VERCEL: undefined });
  await pool.query("select 1");
  expect([awake.length, idleMs()]).toEqual([0, 30_000]);
});
