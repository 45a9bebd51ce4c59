import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "#lib/db/embedded/ports";
import { identifyProcess } from "#lib/db/embedded/process-identity";
import { testEnvironment } from "../../support/database.ts";
import { holdRecovery } from "../../support/recovery.ts";

let folder: string;
let port: number;
const started = new Set<ChildProcess>();
/** One in a folder of its own that nothing happens to, while the others' tests run. */
let idle: { child: ChildProcess; folder: string; since: number };
beforeAll(async () => {
  const own = await mkdtemp(join(tmpdir(), "spoor-idle-"));
  const { child } = command("start", [], { folder: own, port: await freePort() });
  started.delete(child); // of each test's
  idle = { child, folder: own, since: Date.now() };
  folder = await mkdtemp(join(tmpdir(), "spoor-launcher-"));
  port = await freePort();
});
afterEach(async () => {
  for (const child of started) if (child.exitCode === null) child.kill("SIGTERM");
  await Promise.all([...started].map(ended));
  started.clear();
});
afterAll(async () => {
  idle.child.kill("SIGTERM");
  await ended(idle.child);
  for (const path of [folder, idle.folder]) await rm(path, { recursive: true, force: true });
});

/** Runs a command of package.json on a data folder: this file's. */
function command(file: "start" | "admin", words: string[] = [], at = { folder, port }) {
  const { DATABASE_URL: _, ...inherited } = process.env;
  const own = { DATA_DIR: at.folder, PORT: String(at.port), BASE_URL: `http://localhost:${at.port}` };
  const program = { start: ["server/npm-start.mjs"], admin: ["--conditions=react-server", "server/commands/admin.ts"] };
  const child = spawn(process.execPath, [...program[file], ...words], {
    env: { ...inherited, ...testEnvironment, ...own },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output.text += chunk));
  return { child, output };
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

async function until<T>(seconds: number, look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await look().catch(() => undefined);
    if (seen) return seen;
    if (Date.now() > deadline) throw new Error(`not seen within ${seconds} s`);
    await sleep(20);
  }
}

const postmaster = async (of = folder) =>
  Number((await readFile(join(of, "postgres/postmaster.pid"), "utf8")).split("\n")[0]);
const ready = () => until(40, async () => (await fetch(`http://localhost:${port}/api/ready`)).ok);
const isStopped = async () => !(await readdir(join(folder, "postgres"))).includes("postmaster.pid");

/** A process and all that it started. */
async function readFamily(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(threads.map((id) => readFile(`/proc/${pid}/task/${id}/children`, "utf8")));
  const children = lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
  return [pid, ...(await Promise.all(children.map(readFamily))).flat()];
}

/** The process of a family that runs one of the built programs. */
async function readProgram(pid: number, name: "web" | "worker"): Promise<number> {
  for (const one of await readFamily(pid)) {
    const text = await readFile(`/proc/${one}/cmdline`, "utf8").catch(() => ""); // of one that has just ended
    const words = text.split("\0");
    if (words.some((word) => word.endsWith(`/${name}.mjs`))) return one;
  }
  throw new Error(`no ${name} is running`);
}

/** Resident memory in MiB, and the part that is left when each page counts once among all processes that have it. */
async function readMemory(pid: number): Promise<{ resident: number; share: number }> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  const mebibytes = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(text)?.[1]) / 1024;
  return { resident: mebibytes("Rss"), share: mebibytes("Pss") };
}

/** A request that needs the database. */
const poll = () => fetch(`http://localhost:${port}/api/cli/device/poll?deviceCode=unknown`);

describe("npm start", () => {
  test("restarts a killed database, answers 503 meanwhile, and both of its processes continue", async () => {
    const { child, output } = command("start");
    await ready();
    const before = await postmaster();
    process.kill(before, "SIGKILL");
    const outage = await until(5, async () => {
      const response = await poll();
      return response.status === 503 && response;
    });
    expect(Number(outage.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await until(20, async () => (await poll()).status === 400);
    await ready();
    expect(await postmaster()).not.toBe(before);
    await until(5, async () => output.text.includes("The database is running again."));
    child.kill("SIGTERM");
    expect(await ended(child)).toBe(0);
    expect(await isStopped()).toBe(true);
    expect(await identifyProcess(before)).toBeUndefined();
  });

  test("waits for a database that recovers, and ends with 0 and without it at SIGTERM meanwhile", async () => {
    const goOn = await holdRecovery(join(folder, "postgres"));
    const stopped = command("start");
    await until(20, async () => stopped.output.text.includes("The database is recovering"));
    const askedAt = Date.now();
    stopped.child.kill("SIGTERM");
    expect(await ended(stopped.child)).toBe(0);
    expect(Date.now() - askedAt).toBeLessThan(15_000);
    expect(await isStopped()).toBe(true);
    const { child, output } = command("start");
    await until(20, async () => output.text.includes("The database is recovering"));
    const server = await postmaster();
    await goOn();
    await ready();
    expect(await postmaster()).toBe(server);
    child.kill("SIGTERM");
    expect(await ended(child)).toBe(0);
  });

  test.skipIf(!existsSync("/proc/self/cmdline"))(
    "goes on where its worker ended with the database, which then recovers for longer than six starts of it take",
    async () => {
      const { child, output } = command("start");
      await until(40, async () => output.text.includes("Stop it with Ctrl-C.")); // web and worker are ready
      const goOn = await holdRecovery(join(folder, "postgres"));
      const [before, worker] = [await postmaster(), await readProgram(child.pid ?? 0, "worker")];
      const web = await readProgram(child.pid ?? 0, "web");
      for (const pid of [before, worker]) process.kill(pid, "SIGKILL");
      await until(20, async () => output.text.includes("The database is recovering"));
      const server = await postmaster();
      await sleep(15_000);
      expect((await poll()).status).toBe(503);
      await goOn();
      await ready();
      await until(20, async () => (await readProgram(child.pid ?? 0, "worker")) !== worker);
      expect([await postmaster(), await readProgram(child.pid ?? 0, "web")]).toEqual([server, web]);
      child.kill("SIGTERM");
      expect(await ended(child)).toBe(0);
      expect(output.text).not.toContain("Spoor shuts down");
    },
  );

  test("waits for an admin command that started the database and stops it, and serves the next one", async () => {
    const admin = command("admin", ["list"]);
    await until(20, () => postmaster());
    const { child } = command("start");
    expect(await ended(admin.child)).toBe(0);
    await ready();
    const server = await postmaster();
    expect(await ended(command("admin", ["list"]).child)).toBe(0);
    expect(await postmaster()).toBe(server);
    expect((await poll()).status).toBe(400);
    child.kill("SIGTERM");
    expect(await ended(child)).toBe(0);
    expect(await isStopped()).toBe(true);
  });

  test("takes the database over when the start on the same folder that owned it ends", async () => {
    const worker = command("start", ["worker"]);
    await until(20, () => postmaster());
    const web = command("start", ["web"]);
    await ready();
    worker.child.kill("SIGTERM");
    expect(await ended(worker.child)).toBe(0);
    await until(10, async () => (await poll()).status === 400);
    web.child.kill("SIGTERM");
    expect(await ended(web.child)).toBe(0);
    expect(await isStopped()).toBe(true);
  });

  test.each([200, 700, 1200, 1700])(
    "that gets SIGTERM %i ms after its start exits with 0 and leaves nothing running",
    async (ms) => {
      const { child, output } = command("start");
      await sleep(ms);
      child.kill("SIGTERM");
      const askedAt = Date.now();
      const code = await ended(child);
      if (!output.text && code === null) return expect(child.signalCode).toBe("SIGTERM"); // before its signal handler was installed
      expect({ code, output: output.text }).toMatchObject({ code: 0 });
      expect(Date.now() - askedAt).toBeLessThan(15_000);
      expect(await isStopped()).toBe(true);
      await expect(fetch(`http://localhost:${port}/api/health`)).rejects.toThrow();
    },
  );

  test.skipIf(!existsSync("/proc/self/smaps_rollup"))(
    "takes at most 350 MiB while nothing happens, its launcher 70",
    { timeout: 240_000 },
    async () => {
      // Web and worker rest after half a minute; what watches each half second gets hot after one and a half.
      await sleep(Math.max(0, idle.since + 105_000 - Date.now()));
      const [launcher, all] = await until(60, async () => {
        await sleep(1000);
        const family = [
          ...(await readFamily(idle.child.pid ?? 0)),
          ...(await readFamily(await postmaster(idle.folder))),
        ];
        const memory = await Promise.all(family.map(readMemory));
        const sum = Math.round(memory.reduce((total, { share }) => total + share, 0));
        return sum <= 350 && ([Math.round(memory[0]?.resident ?? 0), sum] as const);
      });
      process.stdout.write(`idle: the launcher ${launcher} MiB, all of it ${all} MiB\n`);
      expect(launcher).toBeLessThanOrEqual(70);
    },
  );
});
