import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { freePort } from "#lib/db/embedded/ports";
import { migrate } from "#lib/db/migrate";
import type { Bench, Fault, Outcome } from "./fault.ts";
import { SpoorProcess } from "./process.ts";
import type { Sent, Spoor } from "./spoor.ts";
import { seconds, timed, until } from "./wait.ts";

/** `npm start` killed, then started twice at once on the same folder. */
async function orphanedPostmaster(): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-orphan-"));
  const launched: SpoorProcess[] = [];
  const start = async () => {
    const port = String(await freePort());
    const environment = { DATA_DIR: folder, DATABASE_URL: "", BASE_URL: "", HOST: "127.0.0.1", PORT: port };
    const one = new SpoorProcess("launcher", { ...environment, NODE_ENV: "production", LOG_LEVEL: "warn" });
    launched.push(one);
    await until(90, "npm start is up", () => {
      if (!one.isAlive) throw new Error(one.output);
      return one.output.includes("Stop it with Ctrl-C.");
    });
    return one;
  };
  try {
    const first = await start();
    const postmaster = await readPostmaster(folder);
    await first.kill();
    await sleep(1000);
    expect(await postmastersOn(folder)).toEqual([postmaster]);
    const { result: second, ms } = await timed(start);
    const third = await start();
    expect(await readPostmaster(folder)).toBe(postmaster);
    expect(await postmastersOn(folder)).toEqual([postmaster]);
    for (const one of [third, second]) {
      one.signal("SIGTERM");
      expect(await one.ended()).toEqual({ code: 0, signal: null });
    }
    expect(await postmastersOn(folder)).toEqual([]);
    return {
      injected: "kill -9 of `npm start`, which leaves its PostgreSQL behind; two starts on its folder",
      outcome: `both used that very PostgreSQL (the first was up after ${seconds(ms)}); it ended with the one that had adopted it`,
    };
  } finally {
    for (const one of launched) if (one.isAlive) await one.kill();
    for (const pid of await postmastersOn(folder)) process.kill(pid, "SIGQUIT");
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function readPostmaster(folder: string): Promise<number> {
  return Number((await readFile(join(folder, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);
}

/** The servers whose command line names a folder. */
async function postmastersOn(folder: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""))); // gone
  return pids.filter((_, at) => /bin\/postgres\0-D\0/.test(lines[at] ?? "") && lines[at]?.includes(folder)).map(Number);
}

/** A migration of a table that jobs are just writing, while clients send. */
async function migrateWhileServing(bench: Bench): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-migrations-"));
  try {
    await cp("prisma/migrations", folder, { recursive: true });
    const next = "99990101000000_next";
    await mkdir(join(folder, next));
    await writeFile(
      join(folder, next, "migration.sql"),
      `-- A comment; with a semicolon\nALTER TABLE "trace" ADD COLUMN "later" TEXT DEFAULT 'a;b';\nALTER TABLE "ingest_job" ADD COLUMN "later" INTEGER;\n`,
    );
    return await bench.withSpoor({}, (spoor) => migrateBeside(bench, spoor, folder, next));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function migrateBeside(bench: Bench, spoor: Spoor, folder: string, next: string): Promise<Outcome> {
  const heldMs = bench.quick ? 3000 : 8000;
  const sent: Sent[] = [];
  let serving = true;
  const client = (async () => {
    while (serving) sent.push(await spoor.send([bench.trace(2)]));
  })();
  await sleep(300);
  // As a long job does: it has written the one table, and is still to commit.
  const job = await spoor.db.connect();
  await job.query("begin");
  await job.query("lock table ingest_job in row exclusive mode");
  const migrated = timed(() => migrate(spoor.cluster.urlOf(spoor.database), async () => {}, folder));
  await sleep(heldMs);
  const { rows } = await spoor.db.query("select 1 from information_schema.columns where column_name = 'later'");
  expect(rows).toEqual([]); // nor a part of it
  await job.query("rollback");
  job.release();
  const { result: applied, ms } = await migrated;
  expect(applied).toEqual([next]);
  await sleep(500);
  serving = false;
  await client;
  expect(sent.filter(({ status }) => status !== 202)).toEqual([]);
  const slowest = sent.reduce((max, one) => Math.max(max, one.ms), 0);
  expect(slowest).toBeLessThan(3000);
  await spoor.startWeb();
  await spoor.upload([bench.trace(2)]);
  const compared = await spoor.check();
  return {
    injected: `a migration of two tables while a transaction holds one of them for ${seconds(heldMs)} and a client sends`,
    outcome: `it gave way each time after 0.3 s and was applied completely after ${seconds(ms)}; ${sent.length} uploads all taken meanwhile, the slowest in ${seconds(slowest)}; a process started afterwards answers as well; ${compared}`,
  };
}

export const startFaults: Fault[] = [
  {
    name: "orphan",
    title: "An orphaned embedded postmaster from a killed start",
    group: "processes",
    quick: false,
    run: orphanedPostmaster,
  },
  { name: "migration", title: "A migration while serving", group: "processes", quick: true, run: migrateWhileServing },
];
