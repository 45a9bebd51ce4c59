// Makes TMPDIR one folder per run for tests and the processes that they start.
import { chmod, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "spoor-tests-";
/** Processes left by a test may still write for a moment. */
const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 };

type Scratch = { folder: string; before: string | undefined };
const globals = globalThis as typeof globalThis & { spoorScratch?: Promise<Scratch>; spoorScratchUsers?: number };

/** A file system in memory, if it has enough space: most files of tests are deleted within a second. */
const inMemory = "/dev/shm";
const minFreeBytes = 4 * 2 ** 30;

async function findParent(): Promise<string> {
  const { bavail, bsize } = await statfs(inMemory).catch(() => ({ bavail: 0, bsize: 0 }));
  return process.env.TMPDIR === undefined && bavail * bsize >= minFreeBytes ? inMemory : tmpdir();
}

async function open(): Promise<Scratch> {
  const [parent, before] = [await findParent(), process.env.TMPDIR];
  await removeOfKilledRuns(parent);
  const folder = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
  await chmod(folder, 0o711); // as root, databases run as another account
  process.env.TMPDIR = folder;
  return { folder, before };
}

async function removeOfKilledRuns(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid && !isRunning(Number(pid))) await rm(join(parent, name), removal).catch(() => {}); // another account's
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function close({ folder, before }: Scratch): Promise<void> {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  await rm(folder, removal);
}

/** Runs first in each project, so the folder contains the files of the later set-ups and tests, and is removed last. */
export default async function setup() {
  globals.spoorScratchUsers = (globals.spoorScratchUsers ?? 0) + 1;
  globals.spoorScratch ??= open();
  const scratch = await globals.spoorScratch;
  return async () => {
    globals.spoorScratchUsers = (globals.spoorScratchUsers ?? 1) - 1;
    if (globals.spoorScratchUsers === 0) await close(scratch);
  };
}
