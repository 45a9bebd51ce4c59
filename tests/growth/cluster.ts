// Three PostgreSQL with the extension citus, a coordinator and two nodes, on this machine.
import { execFile } from "node:child_process";
import { appendFile, chmod, chown, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "#lib/db/embedded/ports";
import { joinNodes, run } from "../support/nodes.ts";

const execute = promisify(execFile);

const defaults = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_preload_libraries: "citus",
  max_connections: 300,
  max_prepared_transactions: 300,
  // A node that is killed loses nothing without it: the operating system keeps what was written.
  fsync: "off",
  log_min_messages: "warning",
  "citus.enable_statistics_collection": "off",
  "citus.shard_count": 4,
  // Some tests let PostgreSQL refuse what the application writes.
  "citus.enable_unsafe_triggers": "on",
};

/** The programs of an installed PostgreSQL that has the extension, the newest one; undefined where there is none. */
export async function findCitus(): Promise<string | undefined> {
  const versions = await readdir("/usr/lib/postgresql").catch(() => []);
  const exists = (path: string) => stat(path).then(Boolean, () => false);
  for (const version of versions.sort((a, b) => Number(b) - Number(a))) {
    const bin = `/usr/lib/postgresql/${version}/bin`;
    const control = `/usr/share/postgresql/${version}/extension/citus.control`;
    if ((await exists(control)) && (await exists(join(bin, "initdb")))) return bin;
  }
  return undefined;
}

/** A node's data folder, and the folder of the programs. */
export type Node = { bin: string; data: string };

/**
 * Starts the three nodes; with `stop` they and their folder are gone.
 *
 * @param own settings of PostgreSQL besides those that are needed here.
 */
export async function startCluster(
  bin: string,
  own: Record<string, string> = {},
): Promise<{ url: string; nodes: Node[]; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-citus-"));
  const account = await findAccount();
  if (account) {
    await chmod(folder, 0o711);
    await chown(folder, account.uid, account.gid);
  }
  const nodes = ["0", "1", "2"].map((name) => ({ bin, data: join(folder, name) }));
  const stop = async () => {
    await Promise.all(nodes.map((node) => call(node, "pg_ctl", "stop", "-s", "-w", "-m", "immediate").catch(() => {})));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [coordinator = "", ...workers] = await Promise.all(
      nodes.map((node) => makeNode(node, { ...defaults, ...own })),
    );
    const addresses = workers.map((worker) => new URL(worker));
    await joinNodes(
      coordinator,
      addresses.map(({ hostname, port }) => ({ host: hostname, port: Number(port) })),
    );
    return { url: coordinator, nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function makeNode(node: Node, settings: Record<string, string | number>): Promise<string> {
  await call(node, "initdb", "--username=spoor", "--auth=trust", "--encoding=UTF8", "--locale=C", "--lc-ctype=C.UTF-8");
  const port = await freePort();
  const lines = Object.entries({ ...settings, port }).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(node.data, "postgresql.conf"), lines.join(""));
  await startNode(node);
  const url = `postgres://spoor@127.0.0.1:${port}/postgres`;
  await run(url, "create extension citus");
  return url;
}

/** Starts a node and waits until it answers. */
export const startNode = (node: Node): Promise<void> =>
  call(node, "pg_ctl", "start", "-s", "-w", "-l", `${node.data}.log`);

/** Kills a node's first process; its others end when they notice. */
export async function killNode({ data }: Node): Promise<void> {
  const [pid] = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
  process.kill(Number(pid), "SIGKILL");
}

async function call({ bin, data }: Node, program: string, ...words: string[]): Promise<void> {
  const account = await findAccount();
  const prefix = account ? ["setpriv", `--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"] : [];
  const [command = "", ...rest] = [...prefix, join(bin, program), ...words, "-D", data];
  // Nodes look for a certificate at home.
  const env = { ...process.env, LC_ALL: "C", HOME: dirname(data) };
  await execute(command, rest, { env, cwd: "/" });
}

/** Who runs the nodes: PostgreSQL refuses root, for whom Debian's package makes an account. */
async function findAccount(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n");
  const [, , uid, gid] = lines.find((line) => line.startsWith("postgres:"))?.split(":") ?? [];
  if (!uid || !gid) throw new Error("PostgreSQL refuses to run as root, and there is no account postgres.");
  return { uid: Number(uid), gid: Number(gid) };
}
