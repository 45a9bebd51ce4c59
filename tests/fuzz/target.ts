import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "#lib/db/embedded/ports";
import { inspected } from "./memory.ts";

/**
 * Starts Spoor as `npm start` does, on loopback and with an existing database; its output goes to a file.
 *
 * @param environment with `DATABASE_URL` and `AUTH_SECRET`.
 */
export async function startTarget(environment: Record<string, string>, logFile: string) {
  const port = await freePort();
  const log = openSync(logFile, "w");
  const launcher = spawn(process.execPath, ["server/npm-start.mjs"], {
    stdio: ["ignore", log, log],
    env: {
      ...process.env,
      ...environment,
      ...inspected,
      PORT: String(port),
      HOST: "127.0.0.1",
      BASE_URL: `http://127.0.0.1:${port}`,
      TRUSTED_PROXIES: "127.0.0.1",
      AUTH_RATE_LIMIT: "off",
      LOG_LEVEL: "info",
      NODE_ENV: "production",
    },
  });
  closeSync(log);
  const ended = once(launcher, "exit");
  const stop = async () => {
    launcher.kill("SIGTERM");
    await ended;
  };
  try {
    await ready(`http://127.0.0.1:${port}/api/ready`, () => launcher.exitCode !== null);
  } catch (error) {
    await stop();
    throw new Error(`Spoor did not start.\n${readFileSync(logFile, "utf8").slice(-2000)}`, { cause: error });
  }
  return { port, processes: () => findProcesses(launcher.pid ?? 0), stop };
}

async function ready(url: string, isGone: () => boolean): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    if (isGone() || performance.now() > deadline) throw new Error("it is not ready");
    await sleep(200);
  }
}

export type ProcessState = { pid: number; rssBytes: number };

/** The web and the worker process below a launcher, from /proc (none on other systems than Linux). */
function findProcesses(launcher: number): Record<string, ProcessState> {
  const pids = read(`/proc/${launcher}/task/${launcher}/children`).trim().split(" ").filter(Boolean).map(Number);
  const found = pids.map((pid): Record<string, ProcessState> => {
    const [, name] = /\/(web|worker)\.(?:ts|mjs)\0/.exec(read(`/proc/${pid}/cmdline`)) ?? [];
    const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`)) ?? [];
    return name ? { [name]: { pid, rssBytes: Number(kilobytes ?? 0) * 1024 } } : findProcesses(pid);
  });
  return Object.assign({}, ...found);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}
