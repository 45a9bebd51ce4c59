import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** After this, waiting ends: two processes that send at the same time lose nothing. */
const maxWaitMs = 30_000;
const sayAfterMs = 1000;

type Options = { signal: AbortSignal; onWait: () => void };

/**
 * Runs a function while no other process of this machine sends to the same account, or after a maximum wait.
 *
 * @param path a file with the id of the process whose turn it is; without it there are no turns
 */
export async function takeTurn<Result>(
  path: string,
  { signal, onWait }: Options,
  run: () => Promise<Result>,
): Promise<Result> {
  const isOurs = await take(path, signal, onWait);
  try {
    return await run();
  } finally {
    if (isOurs && (await readHolder(path)) === process.pid) await rm(path, { force: true });
  }
}

async function take(path: string, signal: AbortSignal, onWait: () => void): Promise<boolean> {
  const startedAt = performance.now();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => {});
  for (let hasSaid = false; ; ) {
    try {
      await writeFile(path, String(process.pid), { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
        await rm(path, { force: true }).catch(() => {}); // a full disk leaves it empty
        return false;
      }
    }
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > maxWaitMs || !isRunning(await readHolder(path))) await removeStale(path);
    else {
      if (!hasSaid && waitedMs > sayAfterMs) onWait();
      hasSaid ||= waitedMs > sayAfterMs;
      await sleep(25 + Math.random() * 50, undefined, { signal });
    }
  }
}

/** Removes a stale file; if several processes try, one succeeds. */
async function removeStale(path: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(() => {});
  await rm(aside, { force: true });
}

async function readHolder(path: string): Promise<number> {
  const text = await readFile(path, "utf8").catch(() => "");
  return Number(text);
}

/** This process's own id is stale: after a container's restart another process may have had it. */
function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid === process.pid) return false;
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
