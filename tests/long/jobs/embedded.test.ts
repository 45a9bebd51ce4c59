import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEmbedded } from "#lib/db/embedded/embedded";
import { mayServe } from "#lib/db/embedded/process-identity";
import { holdRecovery } from "../../support/recovery.ts";

const isRoot = process.platform === "linux" && process.getuid?.() === 0;
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

async function until(seconds: number, look: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`not seen within ${seconds} s`);
    await sleep(50);
  }
}

/** What the server has logged since a point of its log. */
async function loggedSince(length: number): Promise<string> {
  return (await readFile(join(folder, "postgres/server.log"), "utf8")).slice(length);
}

const postmaster = async () => Number((await readFile(join(folder, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);

describe("the embedded database", () => {
  test("serves a process that starts while its owner is stopping", async () => {
    for (let round = 0; round < 5; round += 1) {
      const first = await startEmbedded(folder);
      const starting = startEmbedded(folder);
      await sleep(round * 5).then(first.stop);
      const second = await starting;
      expect(await ask(second.url, "select 1 as one")).toEqual([{ one: 1 }]);
      await second.stop();
      await expect(ask(second.url, "select 1")).rejects.toThrow();
    }
  });

  test("starts although the process in its lock file is a zombie, or another process has that id", async () => {
    const first = await startEmbedded(folder);
    const lockFile = join(folder, "postgres/postmaster.pid");
    const lines = (await readFile(lockFile, "utf8")).split("\n");
    await first.stop();
    const parent = spawn("sh", ["-c", "true & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
    const [zombie] = await once(parent.stdout, "data");
    for (const pid of [Number(zombie), parent.pid]) {
      await writeFile(lockFile, [pid, ...lines.slice(1)].join("\n"));
      const startedAt = Date.now();
      const again = await startEmbedded(folder);
      expect(Date.now() - startedAt).toBeLessThan(10_000);
      await again.stop();
    }
    parent.kill();
  });

  test("recovers everything that was committed after kill -9 of the whole server", async () => {
    const first = await startEmbedded(folder);
    await ask(first.url, "create table committed as select 8 as value");
    process.kill(await postmaster(), "SIGKILL");
    await first.stop();
    const second = await startEmbedded(folder);
    expect(await ask(second.url, "select value from committed")).toEqual([{ value: 8 }]);
    await second.stop();
  });

  test("that recovers for longer than a start may take is waited for, told of once and never stopped", async () => {
    const first = await startEmbedded(folder);
    process.kill(await postmaster(), "SIGKILL");
    await first.stop();
    const goOn = await holdRecovery(join(folder, "postgres"));
    const { length } = await loggedSince(0);
    const said: string[] = [];
    const say = (line: string) => said.push(line);
    const starting = startEmbedded(folder, { kind: "launcher", patienceSeconds: 1, say });
    await until(20, async () => said.length > 0);
    const pid = await postmaster();
    const adopting = startEmbedded(folder, { patienceSeconds: 1 });
    await sleep(2500);
    await goOn();
    const [second, third] = await Promise.all([starting, adopting]);
    expect(await postmaster()).toBe(pid);
    expect(await ask(second.url, "select value from committed")).toEqual([{ value: 8 }]);
    expect(said).toEqual([expect.stringMatching(/^The database is recovering .* can take minutes.*server\.log\.$/)]);
    expect(await loggedSince(length)).not.toMatch(/shutdown request|lock file/);
    await Promise.all([second.stop(), third.stop()]);
  });

  test("that recovers is stopped where its start is ended, and is started anew by the next", async () => {
    const goOn = await holdRecovery(join(folder, "postgres"));
    const ending = new AbortController();
    const starting = startEmbedded(folder, { signal: ending.signal });
    starting.catch(() => {}); // expected below
    await until(20, async () => Number.isInteger(await postmaster().catch(() => undefined)));
    const pid = await postmaster();
    const endedAt = Date.now();
    ending.abort();
    await expect(starting).rejects.toThrow(ending.signal.reason);
    expect(Date.now() - endedAt).toBeLessThan(10_000);
    expect(await mayServe(pid, join(folder, "postgres"))).toBe(false);
    await goOn();
    const next = await startEmbedded(folder);
    expect(await ask(next.url, "select value from committed")).toEqual([{ value: 8 }]);
    await next.stop();
  });

  test.runIf(isRoot)(
    "runs as the account that owns its files, whichever accounts the system has got since",
    async () => {
      const namespaces = spawnSync("unshare", ["--user", "--map-user=1000", "true"]).status === 0;
      const owned = (uid: number) => spawnSync("chown", ["-R", `${uid}:${uid}`, join(folder, "postgres")]);
      const { uid: former } = await stat(join(folder, "postgres"));
      for (const uid of namespaces ? [54321, 0] : [54321]) {
        owned(uid);
        const database = await startEmbedded(folder);
        expect(await ask(database.url, "select value from committed")).toEqual([{ value: 8 }]);
        expect((await stat(`/proc/${await postmaster()}`)).uid).toBe(uid);
        await database.stop();
      }
      owned(0);
      if (!namespaces) await expect(startEmbedded(folder)).rejects.toThrow(/belongs to root.*chown -R/);
      owned(former);
    },
  );

  test("two simultaneous first starts get the same server", async () => {
    const other = await mkdtemp(join(tmpdir(), "spoor-embedded-"));
    const [one, two] = await Promise.all([1, 2].map(() => startEmbedded(other, { kind: "launcher" })));
    expect(one?.url).toBe(two?.url);
    await Promise.all([one?.stop(), two?.stop()]);
    await rm(other, { recursive: true, force: true });
  });
});

describe("a supervised embedded database", () => {
  test("is restarted at the same address whenever it is killed, but not after it was stopped", async () => {
    const database = await startEmbedded(folder);
    const said: string[] = [];
    const kept = database.keep((line) => said.push(line));
    await ask(database.url, "create table kept_on as select 9 as value");
    for (let round = 0; round < 2; round += 1) {
      const pid = await postmaster();
      const busy = ask(database.url, "select pg_sleep(60)").catch(() => {}); // a backend that holds the shared memory
      await sleep(100);
      process.kill(pid, "SIGKILL");
      await until(20, async () => (await postmaster().catch(() => pid)) !== pid);
      await until(20, () => ask(database.url, "select value from kept_on").catch(() => undefined));
      await busy;
      await until(20, async () => said.length === 2 * (round + 1)); // the watch has seen it, too
    }
    expect(said).toEqual(
      Array(2).fill(["The database stopped; restarting it.", "The database is running again."]).flat(),
    );
    const pid = await postmaster();
    await database.stop();
    await kept;
    await sleep(1500);
    expect(await mayServe(pid, join(folder, "postgres"))).toBe(false);
    await expect(ask(database.url, "select 1")).rejects.toThrow();
  });

  test("that recovers after it was killed is waited for without another start", async () => {
    const database = await startEmbedded(folder);
    const said: string[] = [];
    const kept = database.keep((line) => said.push(line));
    const goOn = await holdRecovery(join(folder, "postgres"));
    const { length } = await loggedSince(0);
    const before = await postmaster();
    process.kill(before, "SIGKILL");
    await until(20, async () => said.length === 2);
    const pid = await postmaster();
    let isUp = false;
    const up = database.whenUp().then(() => {
      isUp = true;
    });
    await sleep(1500);
    expect(isUp).toBe(false);
    await goOn();
    await Promise.all([up, until(20, async () => said.length === 3)]);
    expect(said).toEqual([
      "The database stopped; restarting it.",
      expect.stringMatching(/^The database is recovering/),
      "The database is running again.",
    ]);
    expect(pid).not.toBe(before);
    expect(await postmaster()).toBe(pid);
    expect(await ask(database.url, "select value from kept_on")).toEqual([{ value: 9 }]);
    expect(await loggedSince(length)).not.toMatch(/shutdown request|lock file/);
    await database.stop();
    await kept;
  });
});
