import "server-only";
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identityOf } from "./living.ts";

/** How long a stop of the server may take before a newcomer no longer waits for it. */
const stopSeconds = 30;

type Kind = "use" | "end";

/**
 * Notes this process as one of those that use a thing they share (the embedded server), of which the last one to leave ends
 * it. Each use is a file whose name says whose it is, so that those of dead processes are known and cleared.
 *
 * Entering and leaving at once need no lock: who leaves says so before looking for others, and who enters notes itself
 * before looking whether somebody ends the thing. One of the two always sees the other.
 *
 * @param folder of the notes; made where it is missing.
 * @returns what takes the note back, and runs `end` where no other living process has one.
 */
export async function enter(folder: string): Promise<(end: () => Promise<void>) => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const use = await note(folder, "use");
  const deadline = Date.now() + stopSeconds * 1000;
  while ((await living(folder, "end")) > 0 && Date.now() < deadline) await sleep(50);
  return async (end) => {
    await rm(use, { force: true });
    const ending = await note(folder, "end");
    try {
      if ((await living(folder, "use")) === 0) await end();
    } finally {
      await rm(ending, { force: true });
    }
  };
}

async function note(folder: string, kind: Kind): Promise<string> {
  const path = join(folder, `${kind}.${await identityOf(process.pid)}.${randomUUID()}`);
  await writeFile(path, "");
  return path;
}

/** How many notes of a kind living processes have. Those of dead ones are removed. */
async function living(folder: string, kind: Kind): Promise<number> {
  let count = 0;
  for (const name of await readdir(folder)) {
    const [itsKind, identity = ""] = name.split(".");
    const lives = (await identityOf(Number.parseInt(identity, 10))) === identity;
    if (!lives) await rm(join(folder, name), { force: true });
    else if (itsKind === kind) count += 1;
  }
  return count;
}
