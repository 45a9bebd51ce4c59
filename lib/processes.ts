import "server-only";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

type Wanted = { name: string; words: string[] };

const readyMs = 60_000;
const stopMs = 14_000;
/** A process that breaks more often than this many times in a minute is not started again. */
const mostRestartsAMinute = 5;

/**
 * Starts processes one after the other and keeps them running: one that breaks after it was ready is started again.
 *
 * @param wanted each with the words behind `node`.
 * @param environment set for all of them, over this process's own.
 * @returns `lost` rejects when a process can't be kept running; `stop` ends all of them (SIGTERM, after 14 s SIGKILL).
 * @throws where one does not become ready.
 */
export async function supervise(wanted: Wanted[], environment: Record<string, string>) {
  const running = new Map<string, ChildProcess>();
  let stopping = false;
  let lose: (error: Error) => void = () => {};
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch(() => {});

  async function keep({ name, words }: Wanted, restarts: number[]): Promise<void> {
    const child = await startProcess(name, words, environment);
    running.set(name, child);
    child.once("exit", async (code, signal) => {
      if (stopping) return;
      const recent = [...restarts.filter((at) => at > Date.now() - 60_000), Date.now()];
      process.stderr.write(`The ${name} process ended (${signal ?? code}); starting it again.\n`);
      if (recent.length > mostRestartsAMinute) return lose(new Error(`The ${name} process keeps ending.`));
      await sleep(500);
      if (!stopping) await keep({ name, words }, recent).catch(lose);
    });
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

/** Starts a process and waits for its word that it is ready. */
async function startProcess(name: string, words: string[], environment: Record<string, string>): Promise<ChildProcess> {
  const conditions = words.filter((word) => word.startsWith("--conditions"));
  const [file = "", ...rest] = words.filter((word) => !conditions.includes(word));
  // The IPC channel says when a process is ready, and tells it when this one is gone, however that came about.
  const child = fork(file, rest, {
    execArgv: conditions,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const signal = AbortSignal.timeout(readyMs);
  const ended = once(child, "exit").then(([code, by]) => {
    throw new Error(`The ${name} process did not start (${by ?? code}).`);
  });
  try {
    await Promise.race([once(child, "message", { signal }), ended]);
    return child;
  } catch (error) {
    child.kill("SIGKILL");
    throw signal.aborted ? new Error(`The ${name} process was not ready within ${readyMs / 1000} s.`) : error;
  } finally {
    ended.catch(() => {});
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
