import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { toLines } from "../cli/home.ts";
import { claudeLines } from "../cli/sessions.ts";

/** The counting server in a process of its own. */
export async function startArchive() {
  const child = fork(new URL("archive-server.ts", import.meta.url), { execArgv: [] });
  const [port] = (await once(child, "message")) as [number];
  const url = `http://127.0.0.1:${port}`;
  const stats = async () => (await (await fetch(`${url}/stats`)).json()) as { bytes: number; jobs: number };
  return { url, stats, environment: { SPOOR_URL: url, SPOOR_TOKEN: "t" }, close: () => child.disconnect() };
}

type Archive = Awaited<ReturnType<typeof startArchive>>;

/** Starts `watch`, and waits until it has nothing left to do: its sender has ended. */
async function startWatch(program: string, home: string, { environment }: Archive) {
  const child = spawn(process.execPath, [program, "watch", "--json"], {
    env: { NODE_ENV: "production", PATH: process.env.PATH, HOME: home, ...environment },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const pid = Number(child.pid);
  await sleep(3000);
  while (findChild(pid)) await sleep(200);
  const end = async () => {
    child.kill("SIGINT");
    await once(child, "exit");
  };
  return { pid, end };
}

function findChild(pid: number): number | undefined {
  try {
    return Number(
      execFileSync("pgrep", ["-P", String(pid)])
        .toString()
        .trim()
        .split("\n")[0],
    );
  } catch {
    return undefined;
  }
}

const numberIn = (path: string, pattern: RegExp) => Number(pattern.exec(readFileSync(path, "utf8"))?.[1]);
/** In seconds; the kernel counts in hundredths. */
const getCpu = (pid: number) => {
  const [, times = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = times.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

/** The cost of `watch` while nothing changes. */
export async function idle(program: string, home: string, archive: Archive, seconds: number) {
  const { pid, end } = await startWatch(program, home, archive);
  const before = getCpu(pid);
  await sleep(seconds * 1000);
  const cpuSecondsPerMinute = ((getCpu(pid) - before) / seconds) * 60;
  const memoryMb = numberIn(`/proc/${pid}/status`, /VmRSS:\s+(\d+)/) / 1024;
  await end();
  return { cpuSecondsPerMinute, memoryMb };
}

/** What lines that are added to a session, one a second, cost: bytes sent, bytes read, and how soon the first is sent. */
export async function lines(
  program: string,
  home: string,
  archive: Archive,
  { path, count }: { path: string; count: number },
) {
  const { pid, end } = await startWatch(program, home, archive);
  const before = await archive.stats();
  let [firstMs, readBytes] = [0, 0];
  const id = "00000000-0000-4000-8000-000000000001";
  for (let line = 0; line < count; line++) {
    const [one] = claudeLines(id, 1);
    const startedAt = performance.now();
    appendFileSync(path, toLines({ ...one, uuid: `line-${line}` }));
    while (firstMs === 0) {
      await sleep(5);
      if ((await archive.stats()).jobs > before.jobs) firstMs = performance.now() - startedAt;
    }
    await sleep(1000);
    const sender = findChild(pid);
    if (sender) readBytes = numberIn(`/proc/${sender}/io`, /rchar: (\d+)/);
  }
  await sleep(2000);
  const after = await archive.stats();
  await end();
  return { sentBytes: after.bytes - before.bytes, uploads: after.jobs - before.jobs, readBytes, firstMs };
}
