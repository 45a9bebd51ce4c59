import "server-only";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { EnvError } from "#lib/errors";
import { serverFolder } from "#lib/server/outputs";

type ProgramToRun = { name: string; words: string[] };

const readyMs = 60_000;
const stopMs = 14_000;

/** The file of a built process. */
export const program = (name: "prepare" | "web" | "worker"): string => `${serverFolder}/${name}.mjs`;

/**
 * Where glibc gives memory out: blocks of a quarter MiB and more are the system's again once they are freed. By itself it raises that
 * size to that of the largest block that was freed, up to 32 MiB, and keeps what was freed between others: three minutes after a load a
 * worker held 191 MiB, and with this 112.
 */
const allocation = { MALLOC_MMAP_THRESHOLD_: "262144" };

/** A process that fails more often than this within a minute is not restarted. */
const maxRestartsPerMinute = 5;

/**
 * Starts processes and keeps them running: one that fails after it was ready is restarted.
 *
 * @param wanted each with its arguments to `node`.
 * @param environment set for all of them, over this process's own.
 * @param signal aborts the start, and stops what was started so far.
 * @param whenUp awaited before one is restarted: the database, without which its start would fail while that recovers from a crash.
 * @returns `lost` rejects when a process can't be kept running; `stop` ends all of them (SIGTERM, after 14 s SIGKILL).
 * @throws if one does not become ready.
 */
export async function supervise(
  wanted: ProgramToRun[],
  environment: Record<string, string>,
  signal?: AbortSignal,
  whenUp: () => Promise<void> = async () => {},
) {
  const running = new Map<string, ChildProcess>();
  let stopping = false;
  let lose: (error: Error) => void = () => {};
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch(() => {});

  async function keep(one: ProgramToRun, restarts: number[]): Promise<void> {
    const child = launch(one.words, environment, allocation);
    running.set(one.name, child);
    await ready(one.name, child, signal);
    child.once("exit", (code, signal) => {
      if (!stopping) process.stderr.write(`The ${one.name} process ended (${signal ?? code}); restarting it.\n`);
      restart(one, restarts);
    });
  }

  /** Restarts a process, once the database answers; a start that fails counts as another failure. */
  async function restart(one: ProgramToRun, restarts: number[]): Promise<void> {
    if (stopping) return;
    const recent = [...restarts.filter((at) => at > performance.now() - 60_000), performance.now()];
    if (recent.length > maxRestartsPerMinute) {
      const count = `more than ${maxRestartsPerMinute} times within a minute`;
      return lose(new EnvError(`The ${one.name} process failed ${count}. Spoor shuts down.`));
    }
    await sleep(500 * recent.length);
    await whenUp();
    if (!stopping) await keep(one, recent).catch(() => restart(one, recent));
  }

  async function stop(): Promise<void> {
    stopping = true;
    await Promise.all([...running.values()].map(stopProcess));
  }

  try {
    await Promise.all(wanted.map((one) => keep(one, [])));
  } catch (error) {
    await stop();
    throw error;
  }
  return { lost, stop };
}

/**
 * Starts one process.
 *
 * @param words options of Node's, a file, and its own arguments
 * @param defaults variables that this process's own go before
 */
export function launch(
  words: string[],
  environment: Record<string, string>,
  defaults: Record<string, string> = {},
): ChildProcess {
  const position = words.findIndex((word) => !word.startsWith("--"));
  // The IPC channel reports when the process is ready, and closes when this one is gone, even if killed.
  return fork(words[position] ?? "", words.slice(position + 1), {
    execArgv: words.slice(0, position),
    env: { ...defaults, ...process.env, ...environment },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** Rejects when a process ends. */
async function failedStart(name: string, child: ChildProcess): Promise<never> {
  const [code, by] = await once(child, "exit");
  throw new EnvError(`The ${name} process did not start (${by ?? code}); the lines above say why.`);
}

/** Waits until a process reports that it is ready. */
async function ready(name: string, child: ChildProcess, given?: AbortSignal): Promise<void> {
  const late = AbortSignal.timeout(readyMs);
  const signal = given ? AbortSignal.any([late, given]) : late;
  const ended = failedStart(name, child);
  ended.catch(() => {});
  try {
    await Promise.race([once(child, "message", { signal }), ended]);
  } catch (error) {
    child.kill("SIGKILL");
    throw late.aborted ? new EnvError(`The ${name} process was not ready within ${readyMs / 1000} s.`) : error;
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const forced = setTimeout(() => child.kill("SIGKILL"), stopMs);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  clearTimeout(forced);
}
