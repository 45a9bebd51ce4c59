import { execFile, spawnSync } from "node:child_process";
import { chown, mkdir, mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "vitest";
import type { Bench, Fault, Outcome } from "./fault.ts";
import { canary, type Sent, Spoor } from "./spoor.ts";
import { seconds, timed, until } from "./wait.ts";

const run = promisify(execFile);
const max = (values: number[]) => values.reduce((highest, value) => Math.max(highest, value), 0);

/** Each refusal is a 503 with Retry-After, within two seconds. */
function expectUnavailable(refusals: Sent[], bench: Bench, withinMs = 2000): void {
  expect(refusals.filter(({ status, retryAfter }) => status !== 503 || Number(retryAfter) < 1)).toEqual([]);
  // Next to other tests the time is longer.
  expect(max(refusals.map(({ ms }) => ms))).toBeLessThan(bench.quick ? 5000 : withinMs);
}

/** Clients that each send their own growing trace until they are stopped, and retry when refused. */
function startLoad(bench: Bench, spoor: Spoor, clients: number) {
  const refusals: Sent[] = [];
  let sending = true;
  const work = Array.from({ length: clients }, async () => {
    let trace = bench.trace(4);
    while (sending) {
      refusals.push(...(await spoor.uploadPatiently([trace, bench.trace(3)])));
      trace = { ...trace, messages: [...trace.messages, ...bench.messages(2, trace.messages.length)] };
    }
  });
  const all = Promise.all(work);
  all.catch(() => {}); // a rejection is thrown by stop
  return {
    refusals,
    stop: async () => {
      sending = false;
      await all;
    },
  };
}

/** PostgreSQL restarted twice and killed once while clients send. */
async function restartDatabase(bench: Bench): Promise<Outcome> {
  return bench.withSpoor({}, async (spoor) => {
    const { cluster } = bench;
    const pids = spoor.processes.map(({ pid }) => pid);
    const load = startLoad(bench, spoor, 4);
    const ways: [string, () => Promise<void>][] = [
      ["restarted (fast)", () => cluster.restart("fast")],
      ["restarted (immediate)", () => cluster.restart("immediate")],
      [
        "killed with -9, all of it",
        async () => {
          await cluster.kill();
          await sleep(1000);
          await cluster.restart();
        },
      ],
    ];
    const back: number[] = [];
    for (const [, way] of bench.quick ? ways.slice(2) : ways) {
      await sleep(1000);
      await way();
      const { ms } = await timed(() => spoor.uploadPatiently([bench.trace(1)]));
      back.push(ms);
      const ready = await timed(() =>
        until(30, "it is ready again", async () => (await fetch(`${spoor.url}/api/ready`)).ok),
      );
      back.push(ready.ms);
    }
    await sleep(500);
    await load.stop();
    expectUnavailable(load.refusals, bench);
    const { ms } = await timed(() => spoor.drained(90));
    expect(spoor.processes.map(({ pid, isAlive }) => isAlive && pid)).toEqual(pids);
    expect((await spoor.jobs()).map(({ attempts }) => attempts).filter((attempts) => attempts > 2)).toEqual([]);
    const compared = await spoor.check();
    return {
      injected: `PostgreSQL ${(bench.quick ? ways.slice(2) : ways).map(([name]) => name).join(", ")}, while 4 clients send`,
      outcome: `${load.refusals.length} times 503, the slowest after ${seconds(max(load.refusals.map(({ ms }) => ms)))}; an upload taken ${seconds(max(back))} after it was back at the latest, all jobs done ${seconds(ms)} later by the same two processes; ${compared}`,
    };
  });
}

/** PostgreSQL unreachable; all connections of the pool in use; all connections of the server in use. */
async function noConnection(bench: Bench): Promise<Outcome> {
  return bench.withSpoor({}, async (spoor) => {
    const refusals = { refused: [] as Sent[], pool: [] as Sent[], server: [] as Sent[] };
    const many = (count: number) => Promise.all(Array.from({ length: count }, () => spoor.send([bench.trace(1)])));

    await bench.cluster.control("stop", "-m", "fast");
    refusals.refused = [...(await many(1)), ...(await many(20))];
    const probe = await fetch(`${spoor.url}/api/health`);
    expect(probe.status).toBe(200);
    expect((await fetch(`${spoor.url}/api/ready`)).status).toBe(503);
    await bench.cluster.restart();
    await spoor.uploadPatiently([bench.trace(1)]);

    const blocker = await spoor.db.connect();
    await blocker.query("begin");
    await blocker.query("lock table trace in access exclusive mode");
    const held = Promise.all(Array.from({ length: 10 }, () => spoor.read("/api/traces")));
    await until(20, "every connection of the pool waits", async () => {
      const { rows } = await spoor.db.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity
         where application_name = 'spoor' and datname = current_database() and wait_event_type = 'Lock'
           and query like '%activity_at%'`,
      );
      return (rows[0]?.count ?? 0) >= 10;
    });
    refusals.pool = await many(10);
    await blocker.query("rollback");
    blocker.release();
    await held;
    await spoor.uploadPatiently([bench.trace(1)]);

    const greedy = await takeAllConnections(spoor);
    await until(20, "Spoor has no connection any more", async () => {
      const { rowCount } = await spoor.db.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'spoor' and datname = current_database()",
      );
      greedy.push(...(await takeAllConnections(spoor)));
      return rowCount === 0;
    });
    refusals.server = await many(5);
    await Promise.all(greedy.map((client) => client.end()));
    await spoor.uploadPatiently([bench.trace(1)]);

    expectUnavailable([...refusals.refused, ...refusals.pool, ...refusals.server], bench);
    const slowest = (sent: Sent[]) => seconds(max(sent.map(({ ms }) => ms)));
    const compared = await spoor.check();
    return {
      injected:
        "PostgreSQL stopped; the pool's 10 connections all with readers that wait for a lock; all 100 of the server in use",
      outcome: `503 after at most ${slowest(refusals.refused)}; ${slowest(refusals.pool)}; ${slowest(refusals.server)}; served again at once afterwards; ${compared}`,
    };
  });
}

async function takeAllConnections(spoor: Spoor) {
  const { default: pg } = await import("pg");
  const taken = [];
  for (;;) {
    const client = new pg.Client({ connectionString: spoor.cluster.urlOf(spoor.database) });
    client.on("error", () => {});
    try {
      await client.connect();
      taken.push(client);
    } catch {
      return taken;
    }
  }
}

const tmpfsMiB = 96;

async function mountImpossible(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "mounting a small disk needs root";
  const folder = await mkdtemp(join(tmpdir(), "spoor-mount-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  if (mounted.status === 0) spawnSync("umount", [folder]);
  await rm(folder, { recursive: true, force: true });
  return mounted.status === 0 ? undefined : `a small disk can't be mounted here: ${String(mounted.stderr).trim()}`;
}

/** A database on a separate disk that fills up and is freed again. */
async function fullDisk(bench: Bench): Promise<Outcome> {
  const disk = await mkdtemp(join(tmpdir(), "spoor-disk-"));
  await run("mount", ["-t", "tmpfs", "-o", `size=${tmpfsMiB}m`, "tmpfs", disk]);
  try {
    const { uid, gid } = await bench.cluster.owner();
    const place = join(disk, "space");
    await mkdir(place, { mode: 0o700 });
    await chown(place, uid, gid);
    await bench.cluster.ask(`create tablespace small location '${place}'`);
    const spoor = await Spoor.start(bench.cluster, { tablespace: "small" });
    try {
      return await fillDisk(bench, spoor, disk);
    } finally {
      await spoor.stop();
      await bench.cluster.ask("drop tablespace small");
    }
  } finally {
    await run("umount", [disk]);
    await rm(disk, { recursive: true, force: true });
  }
}

async function fillDisk(bench: Bench, spoor: Spoor, disk: string): Promise<Outcome> {
  await spoor.uploadPatiently([bench.trace(5)]);
  const worker = spoor.processes.find((one) => one !== spoor.web);
  worker?.signal("SIGSTOP"); // so that uploads are still queued when the disk is full
  const waiting: string[] = [];
  for (let n = 0; n < 3; n += 1) waiting.push(await spoor.upload([bench.trace(400, {}, 20_000)]));
  const { bavail, bsize } = await statfs(disk);
  await writeFile(join(disk, "filler"), Buffer.alloc(bavail * bsize)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOSPC") throw error; // PostgreSQL has taken some meanwhile, and the disk is as full
  });
  worker?.signal("SIGCONT");
  const incompressible = () => [{ ...bench.trace(0), messages: randomMessages() }];
  const refusals: Sent[] = [];
  await until(20, "an upload is refused", async () => {
    const sent = await spoor.send(incompressible());
    if (sent.status !== 202) refusals.push(sent);
    return refusals.length >= 5;
  });
  expectUnavailable(refusals, bench, 5000);
  await sleep(6000);
  const during = (await spoor.jobs()).filter(({ id }) => waiting.includes(id));
  expect(during.map(({ status }) => status).filter((status) => status === "failed")).toEqual([]);
  const open = during.filter(({ status }) => status !== "succeeded").length;
  expect(open).toBeGreaterThan(0);
  expect((await fetch(`${spoor.url}/api/health`)).status).toBe(200);
  await rm(join(disk, "filler"));
  const { ms: takenMs } = await timed(() => spoor.uploadPatiently([bench.trace(2)]));
  const { ms: drainedMs } = await timed(() => spoor.drained(90));
  const attempts = (await spoor.jobs()).map((job) => job.attempts);
  expect(max(attempts)).toBe(1);
  const compared = await spoor.check();
  return {
    injected: `the disk of the tables (tmpfs of ${tmpfsMiB} MiB) filled while ${waiting.length} uploads wait and others come`,
    outcome: `503 for what could not be stored; with room again taken after ${seconds(takenMs)}, all done after ${seconds(drainedMs)}, no attempt counted; ${compared}`,
  };
}

/** 2 MB of incompressible text. */
const randomMessages = () =>
  Array.from({ length: 20 }, (_, position) => ({
    position,
    content: `${canary} ${Array.from({ length: 8000 }, () => Math.random().toString(36).slice(2)).join("")}`,
  }));

export const outageFaults: Fault[] = [
  {
    name: "restart-database",
    title: "PostgreSQL restarted or killed under load",
    group: "processes",
    quick: true,
    run: restartDatabase,
  },
  {
    name: "no-connection",
    title: "Pool exhausted; connection refused",
    group: "processes",
    quick: true,
    run: noConnection,
  },
  {
    name: "full-disk",
    title: "Disk full while storing",
    group: "processes",
    quick: false,
    impossible: mountImpossible,
    run: fullDisk,
  },
];
