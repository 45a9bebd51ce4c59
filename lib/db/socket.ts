// The Unix socket of an embedded server, in the folder of its cluster: only the folder's owner reaches it, and nobody listens in its place.
import "server-only";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";

/** A part of the socket's name; no two servers have one folder. */
export const socketPort = 5432;
const socketName = `.s.PGSQL.${socketPort}`;

/** Addresses of sockets are that short: 103 bytes on macOS, 107 on Linux. */
const maxPathBytes = 103;

/** Whether a server of a cluster can listen at a socket there: the path may be too long, and some file systems have none. */
export async function mayHoldSocket(cluster: string): Promise<boolean> {
  if (process.platform === "win32" || Buffer.byteLength(join(cluster, socketName)) > maxPathBytes) return false;
  const probe = createServer();
  const path = join(cluster, `.p${process.pid}`);
  await rm(path, { force: true }); // of a killed process with this id: a container's is always the same
  const isBound = await new Promise<boolean>((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(path, () => resolve(true));
  });
  if (isBound) await new Promise((closed) => probe.close(closed));
  return isBound;
}

/** Removes the lock of a socket whose server is gone: another process may have that server's id by now. */
export const removeSocketLock = (cluster: string): Promise<void> =>
  rm(join(cluster, `${socketName}.lock`), { force: true });

/** The URL of a database behind the socket in a folder. */
export const socketUrl = (folder: string, password: string, database: string): string =>
  `postgresql://spoor:${password}@localhost:${socketPort}/${database}?host=${encodeURIComponent(folder)}`;

export const isAtSocket = (url: string): boolean => new URL(url).searchParams.has("host");
