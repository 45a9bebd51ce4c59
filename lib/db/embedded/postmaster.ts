import "server-only";
import { readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Client } from "pg";
import { postgresCode } from "#lib/core/errors";
import { removeSocketLock, socketUrl } from "./ports.ts";
import { mayServe } from "./process-identity.ts";

export type Cluster = { cluster: string; password: string };

/** `status` is `starting`, `ready`, `standby` or `stopping`; unwritten fields are undefined or NaN. */
export async function readLockFile({ cluster }: Pick<Cluster, "cluster">) {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const [pid, folder, , port, socket, , , status] = text.split("\n");
  return { pid: Number(pid), folder, port: port?.trim(), socket: socket?.trim(), status: status?.trim() };
}

export async function findPostmaster(cluster: Pick<Cluster, "cluster">): Promise<number | undefined> {
  const { pid } = await readLockFile(cluster);
  return pid > 0 && (await mayServe(pid, cluster.cluster)) ? pid : undefined;
}

/** A zombie in a container, or another program with the same id, would keep PostgreSQL from starting. */
export async function removeStaleLockFile(cluster: Cluster): Promise<void> {
  if ((await findPostmaster(cluster)) !== undefined) return;
  const { pid } = await readLockFile(cluster);
  if (pid > 0) await rm(join(cluster.cluster, "postmaster.pid"), { force: true });
  await removeSocketLock(cluster.cluster);
}

/** @returns a URL, or whether the server is starting or recovering. A busy server is known by its lock file. */
export async function lookAt(cluster: Cluster): Promise<{ url?: string; isStarting: boolean }> {
  const { folder, port, socket, status } = await readLockFile(cluster);
  if (!folder || !port || socket === undefined || resolve(folder) !== cluster.cluster) return { isStarting: false };
  // Another account may listen at the port while PostgreSQL does not (lib/db/required-auth.ts).
  const makeUrl = (database: string) =>
    socket
      ? socketUrl(resolve(cluster.cluster, socket), cluster.password, database)
      : `postgresql://spoor:${cluster.password}@127.0.0.1:${port}/${database}?require_auth=scram-sha-256`;
  const url = makeUrl("spoor");
  try {
    await connect(url).catch(async (error) => {
      if (postgresCode(error) !== "3D000") throw error;
      await nameDatabase(makeUrl("template1"));
      await connect(url);
    });
    return { url, isStarting: false };
  } catch (error) {
    const code = postgresCode(error);
    // 57P03 means starting up, recovering or shutting down.
    const says = code === "57P03" || (status === "starting" && !["ECONNREFUSED", "ENOENT"].includes(code ?? ""));
    return { isStarting: says && status !== "stopping" && (await findPostmaster(cluster)) !== undefined };
  }
}

/** Creating another database takes a tenth of a second. */
const nameDatabase = (url: string): Promise<void> =>
  connect(url, async (client) => {
    await client.query("alter database postgres rename to spoor").catch((error) => {
      if (postgresCode(error) !== "3D000") throw error; // another start was first
    });
  });

async function connect(url: string, use: (client: Client) => Promise<void> = async () => {}): Promise<void> {
  // A launcher needs these 7 MiB only to restart the server.
  const [{ default: pg }, { withRequiredAuth }] = await Promise.all([import("pg"), import("../required-auth.ts")]);
  const client = new pg.Client({ connectionString: withRequiredAuth(url), connectionTimeoutMillis: 3000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
