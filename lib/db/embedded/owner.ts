// Only the owner of an embedded server starts, restarts and stops it.
import "server-only";
import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { identifyProcess } from "./process-identity.ts";

/** A launcher owns the server for its lifetime, a command until its work is done. */
export type OwnerKind = "launcher" | "command";

type Owner = { pid: number; kind: OwnerKind };

const asOwner = (text: string): Owner & { identity: string } => {
  const [identity = "", kind] = text.trim().split(" ");
  return { identity, pid: Number.parseInt(identity, 10), kind: kind as OwnerKind };
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
export async function becomeOwner(path: string, kind: OwnerKind): Promise<(() => Promise<void>) | undefined> {
  const mine = `${await identifyProcess(process.pid)} ${kind} ${randomUUID()}`;
  for (;;) {
    if ((await readOrMake(path, () => mine)) === mine) return () => rm(path, { force: true });
    if (await findOwner(path)) return undefined;
    await rm(path, { force: true });
  }
}

/** Processes that create the file at once agree on its content, since it appears complete or not at all. */
export async function readOrMake(path: string, make: () => string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  for (;;) {
    try {
      return (await readFile(path, "utf8")).trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    await writeFile(draft, `${make()}\n`, { mode: 0o600 });
    try {
      await link(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      await rm(draft, { force: true });
    }
  }
}
