import "server-only";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { freePort } from "#lib/db/ports";
import { isPostgres } from "./living.ts";
import { call, control, findPrograms, type Programs } from "./programs.ts";
import { readOrMake } from "./secrets.ts";
import { enter } from "./users.ts";
import { keepRunning } from "./watch.ts";

/**
 * A running embedded server. `stop` ends this process's use of it, and the server itself where no other process uses it.
 * `keep` starts it again whenever it ends, on the same port; it rejects where that is no use, and resolves after `stop`.
 */
export type EmbeddedDatabase = {
  url: string;
  keep: (say: (line: string) => void) => Promise<void>;
  stop: () => Promise<void>;
};

/**
 * Starts the embedded PostgreSQL of a data folder, or adopts the one that already runs on it.
 *
 * @param dataDir the folder that holds `postgres/` (the cluster), `postgres.password`, and `postgres.users/` (who uses it);
 *   made where it is missing.
 * @throws where the platform has no embedded PostgreSQL, or the server does not start within 30 s; the message holds
 *   the last lines of its log.
 */
export async function startEmbedded(dataDir: string): Promise<EmbeddedDatabase> {
  const folder = resolve(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const programs = await findPrograms(folder);
  const password = await readOrMake(join(folder, "postgres.password"), () => randomBytes(24).toString("base64url"));
  const server: Server = { programs, password, cluster: join(folder, "postgres"), ending: new AbortController() };
  const leave = await enter(join(folder, "postgres.users"));
  try {
    if (!existsSync(join(server.cluster, "PG_VERSION"))) await initialize(server);
    const url = (await connectionTo(server)) ?? (await startServer(server));
    return { url, ...lifeOf(server, url, leave) };
  } catch (error) {
    await leave(() => stopServer(server));
    throw error;
  }
}

/** What it takes to run a cluster's server. `ending` says that it is no longer wanted. */
type Server = { programs: Programs; password: string; cluster: string; ending: AbortController };

function lifeOf(server: Server, url: string, leave: Awaited<ReturnType<typeof enter>>) {
  let watching: Promise<void> | undefined;
  const port = new URL(url).port;
  const isRunning = async () => {
    if ((await postmasterOf(server)) === undefined) return false;
    const now = (await readLockFile(server)).port;
    if (now && now !== port) throw new Error("The database came back on another port. Start Spoor again.");
    return true;
  };
  const start = async () => {
    if (!(await connectionTo(server))) await startServer(server, Number(port));
  };
  return {
    keep: (say: (line: string) => void) => {
      watching = keepRunning({ isRunning, start, say }, server.ending.signal);
      return watching;
    },
    stop: async () => {
      server.ending.abort();
      await watching?.catch(() => {}); // `keep` has told it
      await leave(() => stopServer(server));
    },
  };
}

async function stopServer(server: Server): Promise<void> {
  if ((await postmasterOf(server)) === undefined) return;
  try {
    await control(server.programs, server.cluster, ["stop", "-m", "fast", "-w", "-t", "15"]);
  } catch (error) {
    if ((await postmasterOf(server)) !== undefined) throw error; // else somebody else has ended it meanwhile
  }
}

/** Makes a cluster beside its place and moves it there whole, so that a killed start leaves none half made. */
async function initialize({ programs, cluster, password }: Server): Promise<void> {
  const draft = await mkdtemp(`${cluster}.`);
  const passwordFile = `${draft}.password`;
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (programs.owner) {
    const { uid, gid } = programs.owner;
    await chmod(dirname(cluster), 0o711);
    await chown(draft, uid, gid);
    await chown(passwordFile, uid, gid);
  }
  try {
    const words = [
      "--username=spoor",
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      `--pwfile=${passwordFile}`,
    ];
    await call(programs, "initdb", [`--pgdata=${draft}`, ...words]);
    await rename(draft, cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error; // another start was first: its cluster serves
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
    await rm(passwordFile, { force: true });
  }
}

/**
 * Starts the server on a port of loopback. A start that meets the locks or the memory of a killed one is tried again, one
 * that meets another start adopts its server.
 *
 * @param port the one that it has to have; without, any that is free.
 */
async function startServer(server: Server, port?: number): Promise<string> {
  const { programs, cluster, ending } = server;
  const deadline = Date.now() + 30_000;
  for (;;) {
    await forgetPostmaster(server);
    const settings = { ...serverSettings, port: port ?? (await freePort()) };
    const options = Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" ");
    const words = ["start", "-w", "-t", "20", "-l", join(cluster, "server.log"), "-o", options];
    const failure = await control(programs, cluster, words).then(
      () => undefined,
      (error: Error) => error,
    );
    const url = await connectionTo(server);
    if (url) return url;
    if (Date.now() > deadline || ending.signal.aborted) {
      throw new Error(`The embedded PostgreSQL did not start.\n${await logTail(cluster)}`, { cause: failure });
    }
    await sleep(500);
  }
}

/** What a cluster's lock file says: the server's process, folder, and port. */
async function readLockFile({ cluster }: Server) {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const [pid, folder, , port] = text.split("\n");
  return { pid: Number(pid), folder, port: port?.trim() };
}

/** The number of the process that serves a cluster, where one lives. */
async function postmasterOf(server: Server): Promise<number | undefined> {
  const { pid } = await readLockFile(server);
  return pid > 0 && (await isPostgres(pid)) ? pid : undefined;
}

/**
 * Removes a lock file whose process is none of PostgreSQL's. PostgreSQL itself would be kept from starting by it: by a
 * zombie that nobody reaps (its parent is process 1 of a container), and by a number that another process has got.
 */
async function forgetPostmaster(server: Server): Promise<void> {
  const { pid } = await readLockFile(server);
  if (pid > 0 && !(await isPostgres(pid))) await rm(join(server.cluster, "postmaster.pid"), { force: true });
}

const serverSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "256MB",
  max_wal_size: "4GB",
  max_connections: 100,
};

/** The URL of the server that runs on a cluster, or undefined where none answers to this cluster's password. */
async function connectionTo(server: Server): Promise<string | undefined> {
  const { folder, port } = await readLockFile(server);
  if (!folder || !port || resolve(folder) !== server.cluster) return undefined;
  const url = `postgresql://spoor:${server.password}@127.0.0.1:${port}`;
  const client = new pg.Client({ connectionString: `${url}/postgres`, connectionTimeoutMillis: 3000 });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query("select 1 from pg_database where datname = 'spoor'");
    if (!rowCount) await client.query("create database spoor");
    return `${url}/spoor`;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => {});
  }
}

async function logTail(cluster: string): Promise<string> {
  const text = await readFile(join(cluster, "server.log"), "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-12).join("\n");
}
