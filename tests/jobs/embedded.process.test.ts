import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { isOutage } from "#lib/core/errors";
import { isInUse, startEmbedded } from "#lib/db/embedded/embedded";
import { keepRunning } from "#lib/db/embedded/server-watch";

// What takes seconds of it (kills, recoveries, first starts of every kind) is in tests/long/jobs/embedded.test.ts.
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spoor-embedded-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

const postmaster = async () => Number((await readFile(join(folder, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);

/** Sets the wall clock an hour ahead each time that it is read. */
function letClockJump(): void {
  let now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => (now += 3_600_000));
}
afterEach(() => vi.restoreAllMocks());

describe("the embedded database", () => {
  test("starts in an empty folder, at a socket in a folder that only its owner can enter, with a password", async () => {
    // Making the cluster takes longer than a start may.
    const database = await startEmbedded(folder, { patienceSeconds: 0 });
    const [row] = await ask(
      database.url,
      "select current_setting('listen_addresses') as addresses, current_setting('server_encoding') as encoding",
    );
    expect(row).toEqual({ addresses: "", encoding: "UTF8" });
    expect(new URL(database.url).searchParams.get("host")).toBe(join(folder, "postgres"));
    expect((await stat(join(folder, "postgres"))).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, "postgres.password"))).mode & 0o777).toBe(0o600);
    await expect(ask(database.url.replace(/:[^:@]+@/, ":wrong@"), "select 1")).rejects.toThrow(/password/);
    await database.stop();
    await expect(ask(database.url, "select 1")).rejects.toThrow();
  });

  test("is owned while its folder is exchanged: a start waits, and finds the new one", async () => {
    const database = await startEmbedded(folder);
    await ask(database.url, "create table former ()");
    const cluster = join(folder, "postgres");
    let started: ReturnType<typeof startEmbedded> | undefined;
    await database.stopAround(async () => {
      expect(await isInUse(folder)).toBe(true);
      started = startEmbedded(folder);
      await sleep(300);
      await rename(cluster, `${cluster}.away`);
      await rename(`${cluster}.away`, cluster);
    });
    const next = await started;
    expect(
      await ask(next?.url ?? "", "select count(*)::int as count from pg_tables where tablename = 'former'"),
    ).toEqual([{ count: 1 }]);
    await ask(next?.url ?? "", "drop table former");
    await next?.stop();
    expect(await isInUse(folder)).toBe(false);
  });

  test("keeps its data when it is stopped and started", async () => {
    const first = await startEmbedded(folder);
    await ask(first.url, "create table kept as select 7 as value");
    await first.stop();
    const second = await startEmbedded(folder);
    expect(await ask(second.url, "select value from kept")).toEqual([{ value: 7 }]);
    await second.stop();
  });

  test("whose upgrade was killed before its last step has the data of the upgrade", async () => {
    await mkdir(join(folder, "upgrade"));
    await rename(join(folder, "postgres"), join(folder, "upgrade/postgres"));
    await mkdir(join(folder, "postgres.17"));
    const database = await startEmbedded(folder);
    expect(await ask(database.url, "select * from kept")).toHaveLength(1);
    await database.stop();
    await rm(join(folder, "postgres.17"), { recursive: true });
  });

  test("listens on loopback alone where its folder's path is too long for a socket, and again where it was", async () => {
    const far = join(folder, "f".repeat(100));
    const [first, again] = [await startEmbedded(far, { kind: "launcher" }), await startEmbedded(far)];
    const sql = "select current_setting('listen_addresses') as addresses";
    expect(await ask(first.url, sql)).toEqual([{ addresses: "127.0.0.1" }]);
    expect(again.url).toBe(first.url);
    for (const one of [again, first]) await one.stop();
  });

  test("listens at its socket where a start was killed that tried whether it can", async () => {
    await writeFile(join(folder, "postgres", `.p${process.pid}`), "");
    const database = await startEmbedded(folder);
    expect(new URL(database.url).searchParams.get("host")).toBe(join(folder, "postgres"));
    await database.stop();
  });

  test("takes its socket back from a process that has the id of the server before", async () => {
    const lock = join(folder, "postgres/.s.PGSQL.5432.lock");
    await writeFile(lock, `${process.pid}\n${join(folder, "postgres")}\n1\n5432\n.\n`);
    const database = await startEmbedded(folder, { patienceSeconds: 1 });
    expect(await ask(database.url, "select value from kept")).toEqual([{ value: 7 }]);
    await database.stop();
  });

  test("that is down is told as an outage", async () => {
    const database = await startEmbedded(folder);
    await database.stop();
    expect(await ask(database.url, "select 1").catch(isOutage)).toBe(true);
  });

  test("starts while the clock jumps ahead", async () => {
    letClockJump();
    const database = await startEmbedded(folder);
    expect(await ask(database.url, "select value from kept")).toEqual([{ value: 7 }]);
    await database.stop();
  });

  test("writes no statement that failed to its log, nor its values", async () => {
    const database = await startEmbedded(folder);
    await expect(ask(database.url, "select 'a canary'::int")).rejects.toThrow(/canary/);
    await database.stop();
    const written = await readFile(join(folder, "postgres/server.log"), "utf8");
    expect(written).toContain("database system is ready");
    expect(written).not.toMatch(/canary|ERROR/);
  });

  test("left behind by a killed start is adopted, never started twice, and later stopped by its new owner", async () => {
    const first = await startEmbedded(folder);
    const pid = await postmaster();
    const owner = join(folder, "postgres.owner");
    await writeFile(owner, (await readFile(owner, "utf8")).replace(/^\d+_\d+/, `${process.pid}_1`)); // as a killed start leaves it
    const adopted = await startEmbedded(folder);
    expect(adopted.url).toBe(first.url);
    expect(await postmaster()).toBe(pid);
    await adopted.stop();
    await expect(ask(first.url, "select 1")).rejects.toThrow();
    await expect(stat(owner)).rejects.toThrow("ENOENT");
  });

  test("is stopped by its owner, and by no other process that uses it", async () => {
    const owner = await startEmbedded(folder, { kind: "launcher" });
    const other = await startEmbedded(folder);
    expect(other.url).toBe(owner.url);
    await other.stop();
    expect(await ask(owner.url, "select 1 as one")).toEqual([{ one: 1 }]);
    await owner.stop();
    await expect(ask(owner.url, "select 1")).rejects.toThrow();
  });

  test("is started again by a launcher that outlives its owner, at the same place", async () => {
    const owner = await startEmbedded(folder, { kind: "launcher" });
    const other = await startEmbedded(folder, { kind: "launcher" });
    const said: string[] = [];
    const kept = other.keep((line) => said.push(line));
    await owner.stop();
    await vi.waitUntil(() => said.length === 2, { timeout: 20_000 });
    expect(await ask(other.url, "select value from kept")).toEqual([{ value: 7 }]);
    await other.stop();
    await kept;
    await expect(ask(other.url, "select 1")).rejects.toThrow();
  });

  test("of a command is left alone until that has stopped it", async () => {
    const command = await startEmbedded(folder);
    const before = await postmaster();
    const starting = startEmbedded(folder, { kind: "launcher" });
    await sleep(600);
    await command.stop();
    const launcher = await starting;
    expect(await postmaster()).not.toBe(before);
    expect(await ask(launcher.url, "select value from kept")).toEqual([{ value: 7 }]);
    await launcher.stop();
  });
});

test.runIf(process.platform === "linux")(
  "a lock file that names another cluster's server neither keeps the database from starting nor ends that server",
  async () => {
    const [own, another] = [folder, join(folder, "another")];
    const lockFile = (dataDir: string) => join(dataDir, "postgres/postmaster.pid");
    const first = await startEmbedded(own);
    const [, ...left] = (await readFile(lockFile(own), "utf8")).split("\n"); // by a power failure
    await first.stop();
    const other = await startEmbedded(another);
    const [pid] = (await readFile(lockFile(another), "utf8")).split("\n");
    try {
      await writeFile(lockFile(own), [pid, ...left].join("\n"));
      const again = await startEmbedded(own, { patienceSeconds: 5 });
      expect(await ask(again.url, "select value from kept")).toEqual([{ value: 7 }]);
      await again.stop();
      expect(await ask(other.url, "select 1 as one")).toEqual([{ one: 1 }]);
    } finally {
      await other.stop();
    }
  },
);

describe("a supervised embedded database", () => {
  test("is no longer restarted when it keeps ending", async () => {
    const said: string[] = [];
    let starts = 0;
    const watched = {
      isRunning: async () => false,
      start: async () => {
        starts += 1;
        if (starts === 2) throw new Error("there is no space left");
      },
      say: (line: string) => said.push(line),
    };
    const ended = keepRunning(watched, new AbortController().signal, 1);
    await expect(ended).rejects.toThrow("more than 5 times within a minute");
    expect(starts).toBe(5);
    const [stopped, again] = ["The database stopped; restarting it.", "The database is running again."];
    expect(said.slice(0, 4)).toEqual([stopped, again, stopped, "there is no space left"]);
  });

  test("is no longer restarted when it keeps ending while the clock jumps ahead", async () => {
    letClockJump();
    let starts = 0;
    const start = async () => {
      starts += 1;
      if (starts > 5) ending.abort(); // as it would go on without end
    };
    const ending = new AbortController();
    const ended = keepRunning({ isRunning: async () => false, start, say: () => {} }, ending.signal, 1);
    await expect(ended).rejects.toThrow("more than 5 times within a minute");
    expect(starts).toBe(5);
  });

  test("is left alone while it runs, and after the watch has ended", async () => {
    const ending = new AbortController();
    let looks = 0;
    const isRunning = async () => {
      looks += 1;
      if (looks === 3) ending.abort();
      return true;
    };
    const refuse = () => expect.fail("it was started or told of");
    await keepRunning({ isRunning, start: refuse, say: refuse }, ending.signal, 1);
    expect(looks).toBe(3);
  });
});
