// What the server of an embedded cluster is doing: by its lock file, and by what it answers.
import "server-only";
import { readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Client } from "pg";
import { postgresCode } from "#lib/errors";
import { mayServe } from "./process-identity.ts";
import { removeSocketLock, socketUrl } from "./socket.ts";

/** A cluster's folder, and the password of its user. */
export type Cluster = { cluster: string; password: string };

/**
 * Reads a cluster's lock file: the server's process id, folder and port, the folder of its socket (empty without one), and how far it
 * is (`starting`, `ready`, `standby` or `stopping`). Undefined, or no number, is what is not written yet.
 */
export async function readLockFile({ cluster }: Pick<Cluster, "cluster">) {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const [pid, folder, , port, socket, , , status] = text.split("\n");
  return { pid: Number(pid), folder, port: port?.trim(), socket: socket?.trim(), status: status?.trim() };
}

/** The id of the process that serves a cluster, if one is alive. */
export async function findPostmaster(cluster: Pick<Cluster, "cluster">): Promise<number | undefined> {
  const { pid } = await readLockFile(cluster);
  return pid > 0 && (await mayServe(pid, cluster.cluster)) ? pid : undefined;
}

/**
 * Removes lock files whose process does not serve the cluster. They would keep PostgreSQL from starting: a zombie that nobody reaps
 * (its parent is process 1 of a container), or a process id that another program now has, another PostgreSQL among them.
 */
export async function removeStaleLockFile(cluster: Cluster): Promise<void> {
  if ((await findPostmaster(cluster)) !== undefined) return;
  const { pid } = await readLockFile(cluster);
  if (pid > 0) await rm(join(cluster.cluster, "postmaster.pid"), { force: true });
  await removeSocketLock(cluster.cluster);
}

/**
 * Asks the server of a cluster for a connection.
 *
 * @returns its URL, if it accepts this cluster's password; and otherwise whether it is on its way there, since it starts or
 *   recovers from a crash. One that is too busy to answer is believed its lock file. One at whose port nobody listens is not:
 *   its process id may be another's by now.
 */
export async function lookAt(cluster: Cluster): Promise<{ url?: string; isStarting: boolean }> {
  const { folder, port, socket, status } = await readLockFile(cluster);
  if (!folder || !port || socket === undefined || resolve(folder) !== cluster.cluster) return { isStarting: false };
  // Any account of this machine may listen at the port while PostgreSQL does not (lib/db/required-auth.ts).
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
    // 57P03 is "the database system is starting up", "is in recovery mode", and also "is shutting down".
    const says = code === "57P03" || (status === "starting" && !["ECONNREFUSED", "ENOENT"].includes(code ?? ""));
    return { isStarting: says && status !== "stopping" && (await findPostmaster(cluster)) !== undefined };
  }
}

/** Renames the empty database that a new cluster comes with: to create another one takes a tenth of a second. */
const nameDatabase = (url: string): Promise<void> =>
  connect(url, async (client) => {
    await client.query("alter database postgres rename to spoor").catch((error) => {
      if (postgresCode(error) !== "3D000") throw error; // another start was first
    });
  });

async function connect(url: string, use: (client: Client) => Promise<void> = async () => {}): Promise<void> {
  // 7 MiB that a launcher needs only where the server has to be restarted.
  const [{ default: pg }, { withRequiredAuth }] = await Promise.all([import("pg"), import("./required-auth.ts")]);
  const client = new pg.Client({ connectionString: withRequiredAuth(url), connectionTimeoutMillis: 3000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
