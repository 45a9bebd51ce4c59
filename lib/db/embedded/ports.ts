import "server-only";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

export async function freePort(): Promise<number> {
  const port = await listen(0);
  if (port === undefined) throw new Error("No free port was found.");
  return port;
}

export async function isFree(port: number): Promise<boolean> {
  return (await listen(port)) !== undefined;
}

async function listen(port: number): Promise<number | undefined> {
  const probe = createServer();
  const bound = await new Promise<boolean>((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!bound) return undefined;
  const address = probe.address();
  await new Promise((closed) => probe.close(closed));
  return typeof address === "object" ? address?.port : undefined;
}

/** Only the owner of the cluster's folder can reach the socket there, or listen in its place. */
export const socketPort = 5432;
const socketName = `.s.PGSQL.${socketPort}`;

/** 103 bytes on macOS, 107 on Linux. */
const maxPathBytes = 103;

/** The path may be too long, and some file systems have no sockets. */
export async function mayHoldSocket(cluster: string): Promise<boolean> {
  if (process.platform === "win32" || Buffer.byteLength(join(cluster, socketName)) > maxPathBytes) return false;
  const probe = createServer();
  const path = join(cluster, `.p${process.pid}`);
  await rm(path, { force: true }); // of a killed process, whose id repeats in containers
  const isBound = await new Promise<boolean>((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(path, () => resolve(true));
  });
  if (isBound) await new Promise((closed) => probe.close(closed));
  return isBound;
}

/** Another process may have the id in the lock. */
export const removeSocketLock = (cluster: string): Promise<void> =>
  rm(join(cluster, `${socketName}.lock`), { force: true });

export const socketUrl = (folder: string, password: string, database: string): string =>
  `postgresql://spoor:${password}@localhost:${socketPort}/${database}?host=${encodeURIComponent(folder)}`;

export const isAtSocket = (url: string): boolean => new URL(url).searchParams.has("host");
