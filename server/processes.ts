import "server-only";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { EnvError } from "#lib/core/errors";
import { serverFolder } from "#server/build/stamps";

type ProgramToRun = { name: string; words: string[] };

const readyMs = 60_000;
const stopMs = 14_000;

export const program = (name: "prepare" | "web" | "worker"): string => `${serverFolder}/${name}.mjs`;

/** glibc raises this by itself and then keeps freed memory. */
const allocation = { MALLOC_MMAP_THRESHOLD_: "262144" };

const maxRestartsPerMinute = 5;

/**
 * @param whenUp is awaited before a restart, which would fail while the database recovers
 * @returns `lost` rejects when a process can't be kept running; `stop` ends all of them
 * @throws if one does not become ready
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

/** @param words Node's options, a file, and its arguments @param defaults yield to this process's own variables */
export function launch(
  words: string[],
  environment: Record<string, string>,
  defaults: Record<string, string> = {},
): ChildProcess {
  const position = words.findIndex((word) => !word.startsWith("--"));
  // The IPC channel reports readiness, and shows the child when this process has ended.
  return fork(words[position] ?? "", words.slice(position + 1), {
    execArgv: words.slice(0, position),
    env: { ...defaults, ...process.env, ...environment },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

async function failedStart(name: string, child: ChildProcess): Promise<never> {
  const [code, by] = await once(child, "exit");
  throw new EnvError(`The ${name} process did not start (${by ?? code}); the lines above say why.`);
}

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
