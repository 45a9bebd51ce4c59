import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { closeClient } from "../fuzz/client.ts";
import { fuzz } from "../fuzz/fuzz.ts";
import { startTarget } from "../fuzz/target.ts";
import { makeWorld } from "../fuzz/world.ts";
import { freshDatabase, testEnvironment } from "../support/database.ts";
import { isLong } from "../support/long.ts";
import { isDistributed } from "../support/nodes.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let target: Awaited<ReturnType<typeof startTarget>>;
let folder: string;
beforeAll(async () => {
  database = await freshDatabase();
  folder = await mkdtemp(join(tmpdir(), "spoor-fuzz-"));
  const { AUTH_SECRET } = testEnvironment;
  target = await startTarget({ DATABASE_URL: database.url, AUTH_SECRET }, join(folder, "server.log"));
});
afterAll(async () => {
  closeClient();
  await target.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

const count = isLong ? 2000 : 100;
// Three nodes on the processors of one take several times as long.
const seconds = isDistributed ? 600 : 120;

test(
  `${count} broken and odd requests are each answered as they must be, and leave what a plain model says`,
  async () => {
    const world = await makeWorld(target.port);
    const options = { seed: 1, first: 0, count, concurrency: 12, logFile: join(folder, "server.log") };
    const until = new AbortController().signal;
    const report = await fuzz(target, world, { ...options, until, progress: () => {} });
    expect(report.violations).toEqual([]);
    expect(report.comparedTraces).toBeGreaterThan(count / 10);
    expect(report.jobs.succeeded).toBe(report.jobs.taken);
  },
  seconds * 1000,
);
