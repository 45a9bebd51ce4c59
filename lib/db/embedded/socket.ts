// Only the owner of the cluster's folder can reach the socket there, or listen in its place.
import "server-only";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

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

/** another process may have the id in the lock */
export const removeSocketLock = (cluster: string): Promise<void> =>
  rm(join(cluster, `${socketName}.lock`), { force: true });

export const socketUrl = (folder: string, password: string, database: string): string =>
  `postgresql://spoor:${password}@localhost:${socketPort}/${database}?host=${encodeURIComponent(folder)}`;

export const isAtSocket = (url: string): boolean => new URL(url).searchParams.has("host");
