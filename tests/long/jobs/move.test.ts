import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { closeDatabase, pool } from "#lib/db/client";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { migrate } from "#lib/db/migrate";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { installQueues } from "#lib/queue/queues";
import { program } from "#server/processes";
import { getUploads } from "../../jobs/uploads.ts";
import { testEnvironment } from "../../support/database.ts";
import { dump, otherBin, restore } from "../../support/dump.ts";
import { accept, trace } from "../../support/ingesting.ts";
import { makeUser, setupToken } from "../../support/server.ts";

const run = promisify(execFile);

/** Each of these starts two servers and migrates twice, which takes a minute where others use the processors. */
const timeout = 240_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "spoor-move-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));
afterAll(endThreads);

/** From now on this process uses a database. */
async function use(url: string): Promise<void> {
  await closeDatabase();
  setEnv({ ...testEnvironment, SETUP_TOKEN: setupToken, DATABASE_URL: url });
}

/** An embedded database with an account, ten sessions, and an upload that waits. */
async function makeSource(programs?: string) {
  const source = await startEmbedded(folder, { programs });
  await migrate(source.url, () => installQueues(source.url));
  await use(source.url);
  const userId = await makeUser();
  const { send } = getUploads(userId);
  for (let n = 0; n < 10; n += 1) await send(trace(`session-${n}`, "a message", `of session ${n}`));
  const waiting = await accept(userId, trace("waits", "it is not processed yet"));
  await closeDatabase();
  return { userId, waiting, stop: source.stop };
}

/** A database of the test run's own server, empty. */
async function makeEmpty(name: string): Promise<string> {
  const client = new pg.Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  await client.query(`drop database if exists ${name} with (force)`);
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(inject("postgresUrl"));
  url.pathname = name;
  url.password ||= "is-not-to-be-told"; // a cluster's nodes ask for none
  return url.href;
}

const move = (...words: string[]) =>
  run(process.execPath, ["--conditions=react-server", "server/commands/move.ts", ...words], {
    env: { ...process.env, ...testEnvironment, DATABASE_URL: "", DATA_DIR: folder },
  }).catch((error: { stderr: string }) => Promise.reject(new Error(error.stderr)));

/** Runs a worker on the database in use until no job is open. @returns how many jobs there are in each state */
async function workUntilDone(url: string): Promise<Record<string, number>> {
  const worker = fork(program("worker"), {
    env: { ...process.env, ...testEnvironment, DATABASE_URL: url },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  try {
    await once(worker, "message");
    const deadline = Date.now() + 60_000;
    for (;;) {
      const { rows } = await pool().query("select status, count(*)::int as count from ingest_job group by status");
      const states = Object.fromEntries(rows.map(({ status, count }) => [status, count]));
      if (!states.queued && !states.running) return states;
      if (Date.now() > deadline) throw new Error(`jobs are still open: ${JSON.stringify(states)}`);
      await sleep(50);
    }
  } finally {
    worker.kill("SIGKILL");
  }
}

async function expectWhole(url: string, userId: string): Promise<void> {
  await use(url);
  expect(await workUntilDone(url)).toEqual({ succeeded: 11 });
  const { stored } = getUploads(userId);
  for (let n = 0; n < 10; n += 1) {
    expect((await stored(`session-${n}`))?.contents).toEqual(["a message", `of session ${n}`]);
  }
  expect((await stored("waits"))?.contents).toEqual(["it is not processed yet"]);
}

describe("npm run move", { timeout }, () => {
  test("copies an embedded database to an empty one, and refuses one in use, a second time, and a stranger's", async () => {
    const source = await makeSource();
    const target = await makeEmpty("moved_to");
    await expect(move("--to", target)).rejects.toThrow(/Stop it first/);
    await source.stop();
    const { stdout } = await move("--to", target);
    expect(stdout).toMatch(/ trace: 10 rows\n[\s\S]*the counts of all tables are the same/);
    expect(stdout).not.toContain(new URL(target).password);
    await expectWhole(target, source.userId);
    await expect(move("--to", target)).rejects.toThrow(/not empty/);
    const foreign = await makeEmpty("not_spoors");
    await use(foreign);
    await pool().query("create table theirs as select 1 as one");
    await expect(move("--to", foreign)).rejects.toThrow(/not empty/);
    expect((await readdir(folder)).includes("postgres")).toBe(true);
    const again = await startEmbedded(folder);
    await expectWhole(again.url, source.userId);
    await closeDatabase();
    await again.stop();
  });

  test.skipIf(!existsSync(otherBin))("brings an embedded database to the present major version", async () => {
    const source = await makeSource(otherBin);
    await source.stop();
    const startedAt = Date.now();
    await expect(startEmbedded(folder)).rejects.toThrow(/made by PostgreSQL 15.*npm run move -- --upgrade/s);
    expect(Date.now() - startedAt).toBeLessThan(5000);
    await move("--upgrade", "--programs", otherBin);
    expect(await readFile(join(folder, "postgres/PG_VERSION"), "utf8")).toMatch(/^(1[6-9]|2\d)\n/);
    expect(await readFile(join(folder, "postgres.15/PG_VERSION"), "utf8")).toBe("15\n");
    const upgraded = await startEmbedded(folder);
    await expectWhole(upgraded.url, source.userId);
    await closeDatabase();
    await upgraded.stop();
  });
});

test.skipIf(!existsSync(`${otherBin}/pg_dump`))(
  "a dump under load, restored elsewhere, has every session acknowledged before it, and its queued uploads finish",
  { timeout },
  async () => {
    const server = await startEmbedded(folder, { programs: otherBin });
    await migrate(server.url, () => installQueues(server.url));
    await use(server.url);
    const userId = await makeUser();
    const acknowledged: string[] = [];
    let isLoaded = true;
    const load = Array.from({ length: 4 }, async (_, client) => {
      for (let n = 0; isLoaded; n += 1) {
        await accept(userId, trace(`${client}-${n}`, `message of ${client}-${n}`));
        acknowledged.push(`${client}-${n}`);
      }
    });
    const { run: process } = getUploads(userId);
    for (let n = 0; n < 20; n += 1) await process(await accept(userId, trace(`done-${n}`, `message of done-${n}`)));
    const before = [...acknowledged];
    const { path } = await dump(server.url);
    isLoaded = false;
    await Promise.all(load);
    await closeDatabase();
    await server.stop();

    const target = await restore(path, "restored");
    await use(target);
    const waiting = await pool().query("select 1 from ingest_job where status = 'queued'");
    expect(before.length).toBeGreaterThan(20);
    expect(waiting.rowCount).toBeGreaterThan(20);
    expect(Object.keys(await workUntilDone(target))).toEqual(["succeeded"]);
    const { rows } = await pool().query(
      "select t.source_id, m.content from trace t join message m on m.user_id = t.user_id and m.trace_id = t.id",
    );
    const contents = new Map(rows.map((row) => [row.source_id, row.content]));
    const wanted = [...before, ...Array.from({ length: 20 }, (_, n) => `done-${n}`)];
    expect(wanted.filter((id) => contents.get(id) !== `message of ${id}`)).toEqual([]);
    await closeDatabase();
  },
);
