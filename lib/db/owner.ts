// The owner of an embedded server is the process that starts, restarts and stops it. Others on the same data folder only use it.
import "server-only";
import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { identifyProcess } from "./process-identity.ts";
import { readOrMake } from "./secret-file.ts";

/** A launcher owns the server as long as it lives, a command until its work is done. */
export type Kind = "launcher" | "command";

type Owner = { pid: number; kind: Kind };

const asOwner = (text: string): Owner & { identity: string } => {
  const [identity = "", kind] = text.trim().split(" ");
  return { identity, pid: Number.parseInt(identity, 10), kind: kind as Kind };
};

/** Finds the living process that owns a server. */
export async function findOwner(path: string): Promise<Owner | undefined> {
  const { identity, ...owner } = asOwner(await readFile(path, "utf8").catch(() => ""));
  return identity && (await identifyProcess(owner.pid)) === identity ? owner : undefined;
}

/**
 * Makes this process the owner unless another living process is. Two processes that find the same dead owner at once may both become
 * owners: the first to end stops the server, and the other restarts it if it is a launcher.
 *
 * @returns a function that ends the ownership; undefined where another process has it.
 */
export async function becomeOwner(path: string, kind: Kind): Promise<(() => Promise<void>) | undefined> {
  const mine = `${await identifyProcess(process.pid)} ${kind} ${randomUUID()}`;
  for (;;) {
    if ((await readOrMake(path, () => mine)) === mine) return () => rm(path, { force: true });
    if (await findOwner(path)) return undefined;
    await rm(path, { force: true });
  }
}
