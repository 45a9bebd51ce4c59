import { lstat, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Nothing takes this long, so an older lock, or one from the future, was left by a killed process. */
const staleMs = 60_000;

/** Runs a function under a lock between processes, or without the lock if that can't be written. */
export async function withLock<Result>(path: string, run: () => Promise<Result>): Promise<Result> {
  const isHeld = await take(path);
  try {
    return await run();
  } finally {
    if (isHeld) await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  const hasFolder = await mkdir(dirname(path), { recursive: true, mode: 0o700 }).then(
    () => true,
    () => false,
  );
  while (hasFolder) {
    try {
      await (await open(path, "wx", 0o600)).close();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
    }
    // `stat` fails on a dangling link, so the wait would never end.
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Math.abs(Date.now() - mtimeMs) > staleMs) await rm(path, { force: true });
    else await sleep(10 + Math.random() * 20);
  }
  return false;
}
