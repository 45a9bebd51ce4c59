import "server-only";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { freePort } from "#lib/db/ports";
import { EnvError, postgresCode } from "#lib/errors";
import { call, control, findPrograms, majorVersion, type Programs } from "./postgres-programs.ts";
import { isPostgres } from "./process-identity.ts";
import { acquire, countLiving } from "./reference-files.ts";
import { readOrMake } from "./secret-file.ts";
import { keepRunning } from "./server-watch.ts";

/**
 * A running embedded server. `stop` ends this process's use of it, and the server itself if no other process uses it.
 * `keep` restarts it on the same port whenever it ends; it rejects if that doesn't help, and resolves after `stop`.
 */
export type EmbeddedDatabase = {
  url: string;
  keep: (say: (line: string) => void) => Promise<void>;
  stop: () => Promise<void>;
};

/**
 * Starts the embedded PostgreSQL of a data folder, or adopts the one that already runs on it.
 *
 * @param dataDir contains `postgres/` (the cluster), `postgres.password`, and `postgres.users/` (the processes that use it);
 *   created if missing.
 * @param programs where PostgreSQL's programs are, if not this version's own.
 * @param meanwhile called while a cluster is being made, which takes a second: for what this process can load until then.
 * @throws if the platform has no embedded PostgreSQL, its version is not the folder's, or the server does not start within
 *   30 s; the message contains the last lines of its log.
 */
export async function startEmbedded(
  dataDir: string,
  programs?: string,
  meanwhile: () => void = () => {},
): Promise<EmbeddedDatabase> {
  const { server, release } = await use(dataDir, programs);
  try {
    const made = await majorOf(dataDir);
    if (made === undefined) await initialize(server, meanwhile);
    else await expectVersion(server, made);
    const url = (await findUrl(server)) ?? (await startServer(server));
    return { url, ...superviseServer(server, url, release) };
  } catch (error) {
    await release(() => stopServer(server));
    throw error;
  }
}

/**
 * Takes over from another process the use of a server that it started: call it before that process stops using it.
 *
 * @param url as the other process was given it.
 */
export async function takeOverEmbedded(dataDir: string, url: string): Promise<EmbeddedDatabase> {
  const { server, release } = await use(dataDir);
  return { url, ...superviseServer(server, url, release) };
}

/** The major version of PostgreSQL that made a data folder's cluster; undefined where there is none. */
export async function majorOf(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, "postgres/PG_VERSION"), "utf8").catch(() => undefined);
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/** Whether processes use a data folder's server. */
export const isInUse = async (dataDir: string): Promise<boolean> =>
  existsSync(join(dataDir, "postgres.users")) && (await countLiving(join(dataDir, "postgres.users"), "use")) > 0;

async function expectVersion({ cluster, programs }: Server, made: number): Promise<void> {
  const major = await majorVersion(programs.bin);
  if (major === made) return;
  throw new EnvError(
    `The database in ${cluster} was made by PostgreSQL ${made}, and these programs are of PostgreSQL ${major}. Nothing was ` +
      "changed. This brings it over, and keeps the former one:\n  npm run move -- --upgrade",
  );
}

async function use(
  dataDir: string,
  given?: string,
): Promise<{ server: Server; release: Awaited<ReturnType<typeof acquire>> }> {
  const folder = resolve(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const programs = await findPrograms(folder, given);
  const password = await readOrMake(join(folder, "postgres.password"), () => randomBytes(24).toString("base64url"));
  const server: Server = { programs, password, cluster: join(folder, "postgres"), ending: new AbortController() };
  return { server, release: await acquire(join(folder, "postgres.users")) };
}

/** What running a cluster's server needs. `ending` is aborted when it is to stop. */
type Server = { programs: Programs; password: string; cluster: string; ending: AbortController };

function superviseServer(server: Server, url: string, release: Awaited<ReturnType<typeof acquire>>) {
  let watching: Promise<void> | undefined;
  const port = new URL(url).port;
  const isRunning = async () => {
    if ((await findPostmaster(server)) === undefined) return false;
    const now = (await readLockFile(server)).port;
    if (now && now !== port) throw new EnvError("The database came back on another port. Restart Spoor.");
    return true;
  };
  const start = async () => {
    if (!(await findUrl(server))) await startServer(server, Number(port));
  };
  return {
    keep: (say: (line: string) => void) => {
      watching = keepRunning({ isRunning, start, say }, server.ending.signal);
      return watching;
    },
    stop: async () => {
      server.ending.abort();
      await watching?.catch(() => {}); // `keep` has reported it
      await release(() => stopServer(server));
    },
  };
}

async function stopServer(server: Server): Promise<void> {
  if ((await findPostmaster(server)) === undefined) return;
  try {
    await control(server.programs, server.cluster, ["stop", "-m", "fast", "-w", "-t", "15"]);
  } catch (error) {
    if ((await findPostmaster(server)) !== undefined) throw error; // otherwise another process has stopped it meanwhile
  }
}

/** Creates a cluster in a temporary folder and renames it, so that a killed start leaves none incomplete. */
async function initialize({ programs, cluster, password }: Server, meanwhile: () => void): Promise<void> {
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
    const made = call(programs, "initdb", [`--pgdata=${draft}`, ...words]);
    meanwhile();
    await made;
    await rename(draft, cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error; // another start was first: its cluster is used
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
    await rm(passwordFile, { force: true });
  }
}

/**
 * Starts the server on a loopback port. Retries while a killed server's locks or shared memory are in the way, and adopts
 * the server of another start.
 *
 * @param port the required port; any free one by default.
 */
async function startServer(server: Server, port?: number): Promise<string> {
  const { programs, cluster, ending } = server;
  const deadline = Date.now() + 30_000;
  for (;;) {
    await removeStaleLockFile(server);
    const settings = { ...serverSettings, port: port ?? (await freePort()) };
    const options = Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" ");
    const words = ["start", "-w", "-t", "20", "-l", join(cluster, "server.log"), "-o", options];
    const failure = await control(programs, cluster, words).then(
      () => undefined,
      (error: Error) => error,
    );
    const url = await findUrl(server);
    if (url) return url;
    if (Date.now() > deadline || ending.signal.aborted) {
      const as = programs.owner ? ` as account ${programs.owner.uid}, which owns ${cluster}` : "";
      const why = (await readLogTail(cluster)) || failure?.message;
      throw new EnvError(`The embedded PostgreSQL did not start${as}.\n${why}`, { cause: failure });
    }
    await sleep(500);
  }
}

/** Reads a cluster's lock file: the server's process id, folder and port. */
async function readLockFile({ cluster }: Server) {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const [pid, folder, , port] = text.split("\n");
  return { pid: Number(pid), folder, port: port?.trim() };
}

/** The id of the process that serves a cluster, if one is alive. */
async function findPostmaster(server: Server): Promise<number | undefined> {
  const { pid } = await readLockFile(server);
  return pid > 0 && (await isPostgres(pid)) ? pid : undefined;
}

/**
 * Removes a lock file whose process is not PostgreSQL. It would keep PostgreSQL from starting: a zombie that nobody reaps
 * (its parent is process 1 of a container), or a process id that another program now has.
 */
async function removeStaleLockFile(server: Server): Promise<void> {
  const { pid } = await readLockFile(server);
  if (pid > 0 && !(await isPostgres(pid))) await rm(join(server.cluster, "postmaster.pid"), { force: true });
}

const serverSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "256MB",
  max_wal_size: "4GB",
  max_connections: 100,
  // Not what failed or was cancelled: Spoor's own log has that, without values. This one, which nothing ends, would grow with it.
  log_min_messages: "log",
};

/** The URL of the server that runs on a cluster, or undefined if none accepts this cluster's password. */
async function findUrl(server: Server): Promise<string | undefined> {
  const { folder, port } = await readLockFile(server);
  if (!folder || !port || resolve(folder) !== server.cluster) return undefined;
  const base = `postgresql://spoor:${server.password}@127.0.0.1:${port}`;
  try {
    await connect(`${base}/spoor`).catch(async (error) => {
      if (postgresCode(error) !== "3D000") throw error;
      await nameDatabase(base);
      await connect(`${base}/spoor`);
    });
    return `${base}/spoor`;
  } catch {
    return undefined;
  }
}

/** Renames the empty database that a new cluster comes with: to create another one takes a tenth of a second. */
const nameDatabase = (base: string): Promise<void> =>
  connect(`${base}/template1`, async (client) => {
    await client.query("alter database postgres rename to spoor").catch((error) => {
      if (postgresCode(error) !== "3D000") throw error; // another start was first
    });
  });

async function connect(url: string, use: (client: Client) => Promise<void> = async () => {}): Promise<void> {
  const { default: pg } = await import("pg"); // 7 MiB that a launcher needs only where the server has to be restarted
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

async function readLogTail(cluster: string): Promise<string> {
  const text = await readFile(join(cluster, "server.log"), "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-12).join("\n");
}
