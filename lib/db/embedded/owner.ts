// Only the owner of an embedded server starts, restarts and stops it.
import "server-only";
import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { identifyProcess } from "./process-identity.ts";
import { readOrMake } from "./secret-file.ts";

/** A launcher owns the server for its lifetime, a command until its work is done. */
export type Kind = "launcher" | "command";

type Owner = { pid: number; kind: Kind };

const asOwner = (text: string): Owner & { identity: string } => {
  const [identity = "", kind] = text.trim().split(" ");
  return { identity, pid: Number.parseInt(identity, 10), kind: kind as Kind };
};

export async function findOwner(path: string): Promise<Owner | undefined> {
  const { identity, ...owner } = asOwner(await readFile(path, "utf8").catch(() => ""));
  return identity && (await identifyProcess(owner.pid)) === identity ? owner : undefined;
}

/**
 * If two processes find a dead owner at once, both may become owners: the first to end stops the server, and a launcher
 * restarts it.
 * @returns a function that ends the ownership
 */
export async function becomeOwner(path: string, kind: Kind): Promise<(() => Promise<void>) | undefined> {
  const mine = `${await identifyProcess(process.pid)} ${kind} ${randomUUID()}`;
  for (;;) {
    if ((await readOrMake(path, () => mine)) === mine) return () => rm(path, { force: true });
    if (await findOwner(path)) return undefined;
    await rm(path, { force: true });
  }
}
