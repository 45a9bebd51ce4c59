import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** After so long it is not worth waiting: two that send at once lose nothing, and only send more. */
const maxWaitMs = 30_000;
const sayAfterMs = 1000;

type Options = { signal: AbortSignal; onWait: () => void };

/**
 * Runs something while no other process of this machine sends to the same account, unless that takes too long. One that was killed
 * is not waited for.
 *
 * @param path of the file that names the process whose turn it is; where it can't be written, there are no turns
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

/** @returns whether the file was written */
async function take(path: string, signal: AbortSignal, onWait: () => void): Promise<boolean> {
  const startedAt = performance.now();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(() => {}); // then there are no turns
  for (let hasSaid = false; ; ) {
    try {
      await writeFile(path, String(process.pid), { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
        await rm(path, { force: true }).catch(() => {}); // on a full disk it is there, and empty
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

/** Removes a file that nobody keeps; of several that try, one finds it. */
async function removeStale(path: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(() => {}); // another one was faster
  await rm(aside, { force: true });
}

async function readHolder(path: string): Promise<number> {
  const text = await readFile(path, "utf8").catch(() => "");
  return Number(text);
}

/** Whether a process runs that is not this one: after a restart of a container another one may have had this id. */
function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid === process.pid) return false;
  if (pid === 0) return true; // it is being written
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
