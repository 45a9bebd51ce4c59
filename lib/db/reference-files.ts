import "server-only";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identityOf } from "./process-identity.ts";

/** How long a new process waits for the server's stop by another. */
const stopSeconds = 30;

type Kind = "use" | "end";

/**
 * Counts this process as a user of something shared (the embedded server) that the last user stops. Each use is a file named
 * after its process, so that the files of dead processes are recognised and removed.
 *
 * Acquiring and releasing at the same time need no lock: who releases writes its `end` file before it looks for other users,
 * and who acquires writes its `use` file before it looks for an `end`. One of the two always sees the other.
 *
 * @param folder of the files; created if missing.
 * @returns releases the use, and runs `end` if no other living process has one.
 */
export async function acquire(folder: string): Promise<(end: () => Promise<void>) => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const use = await mark(folder, "use");
  const deadline = performance.now() + stopSeconds * 1000;
  while ((await countLiving(folder, "end")) > 0 && performance.now() < deadline) await sleep(50);
  return async (end) => {
    await rm(use, { force: true });
    const ending = await mark(folder, "end");
    try {
      if ((await countLiving(folder, "use")) === 0) await end();
    } finally {
      await rm(ending, { force: true });
    }
  };
}

async function mark(folder: string, kind: Kind): Promise<string> {
  const path = join(folder, `${kind}.${await identityOf(process.pid)}.${randomUUID()}`);
  await writeFile(path, "");
  return path;
}

/** Counts the files of a kind that living processes have. Those of dead processes are removed. */
export async function countLiving(folder: string, kind: Kind): Promise<number> {
  let count = 0;
  for (const name of await readdir(folder)) {
    const [itsKind, identity = ""] = name.split(".");
    const lives = (await identityOf(Number.parseInt(identity, 10))) === identity;
    if (!lives) await rm(join(folder, name), { force: true });
    else if (itsKind === kind) count += 1;
  }
  return count;
}
