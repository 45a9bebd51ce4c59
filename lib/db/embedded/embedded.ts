import "server-only";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EnvError } from "#lib/core/errors";
import { operatorCommand } from "#lib/core/variables/operator-command";
import { freePort, isFree } from "#lib/db/embedded/ports";
import { makeCluster } from "./new-cluster.ts";
import { becomeOwner, findOwner, type OwnerKind, readOrMake } from "./owner.ts";
import { isAtSocket, mayHoldSocket, socketPort } from "./ports.ts";
import { control, findPrograms, majorVersion, type Programs } from "./postgres-programs.ts";
import { type Cluster, findPostmaster, lookAt, readLockFile, removeStaleLockFile } from "./postmaster.ts";
import { keepRunning } from "./server-watch.ts";

/**
 * `keep` restarts the server at the same place, unless another process owns it. `whenUp` waits for a recovery. `stop` stops
 * the server if this process owns it or the owner is gone, and `stopAround` runs work before others can start it.
 */
export type EmbeddedDatabase = {
  url: string;
  keep: (say: (line: string) => void) => Promise<void>;
  whenUp: () => Promise<void>;
  stop: () => Promise<void>;
  stopAround: (work: () => Promise<void>) => Promise<void>;
};

export type StartOptions = {
  /** Other processes wait while a command owns the server, since the command will stop it. */
  kind?: OwnerKind;
  programs?: string | undefined;
  say?: (line: string) => void;
  signal?: AbortSignal | undefined;
  /** Listens at a loopback port even if a socket would do. */
  tcp?: boolean;
  /** A start in progress is always waited for. */
  patienceSeconds?: number | undefined;
};

/**
 * Starts the embedded PostgreSQL, or connects to a running one, which it owns if its process was killed.
 * @throws if the platform has no embedded PostgreSQL, its version is not the folder's, or no server starts within 30 s
 */
export async function startEmbedded(dataDir: string, options: StartOptions = {}): Promise<EmbeddedDatabase> {
  const folder = resolve(dataDir);
  await endUpgrade(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const server: EmbeddedServer = {
    programs: await findPrograms(folder, options.programs),
    password: await readOrMake(join(folder, "postgres.password"), () => randomBytes(24).toString("base64url")),
    cluster: join(folder, "postgres"),
    owner: ownerFile(folder),
    kind: options.kind ?? "command",
    disown: undefined,
    ending: new AbortController(),
  };
  try {
    const url = await startServer(server, options);
    return { url, ...superviseServer(server, url, options.patienceSeconds) };
  } catch (error) {
    await leave(server);
    throw error;
  }
}

const ownerFile = (dataDir: string): string => join(dataDir, "postgres.owner");

export async function readMajorVersion(dataDir: string): Promise<number | undefined> {
  const text = await readFile(join(dataDir, "postgres/PG_VERSION"), "utf8").catch(() => undefined);
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

export const isInUse = async (dataDir: string): Promise<boolean> =>
  (await findOwner(ownerFile(resolve(dataDir)))) !== undefined;

/** Without it a killed upgrade (server/commands/move.ts) would leave an empty cluster. */
async function endUpgrade(folder: string): Promise<void> {
  const [cluster, upgraded] = [join(folder, "postgres"), join(folder, "upgrade/postgres")];
  if (existsSync(cluster) || !existsSync(join(upgraded, "PG_VERSION"))) return;
  const hasFormer = (await readdir(folder)).some((name) => /^postgres\.\d+$/.test(name));
  if (!hasFormer) return;
  await rename(upgraded, cluster).catch((error) => {
    if (error.code !== "ENOENT") throw error; // another process was first
  });
}

async function prepareCluster(server: EmbeddedServer): Promise<void> {
  const { cluster, programs } = server;
  const made = await readMajorVersion(dirname(cluster));
  if (made === undefined) return makeCluster(server);
  const major = await majorVersion(programs.bin);
  if (major === made) return;
  throw new EnvError(
    `The database in ${cluster} belongs to PostgreSQL ${made}, and this version has PostgreSQL ${major}. Nothing was ` +
      `changed. This command upgrades it and keeps the old one:\n  ${operatorCommand("move", "--upgrade")}`,
  );
}

type EmbeddedServer = Cluster & {
  programs: Programs;
  owner: string;
  kind: OwnerKind;
  disown: (() => Promise<void>) | undefined;
  ending: AbortController;
};

async function mayStart(server: EmbeddedServer): Promise<boolean> {
  if (server.disown) return true;
  server.disown = await becomeOwner(server.owner, server.kind);
  if (server.disown) await prepareCluster(server);
  return server.disown !== undefined;
}

async function leave(server: EmbeddedServer, whileOwned?: () => Promise<void>): Promise<void> {
  server.disown ??= await becomeOwner(server.owner, server.kind);
  try {
    if (server.disown) await stopServer(server);
    else if (whileOwned) throw new EnvError("Another process uses the database. Stop it, and try again.");
    await whileOwned?.();
  } finally {
    await server.disown?.();
  }
}

function superviseServer(server: EmbeddedServer, url: string, patienceSeconds?: number) {
  let watching: Promise<void> | undefined;
  let hasFailed = false;
  const { port } = new URL(url);
  const isRunning = async () => {
    if ((await findPostmaster(server)) === undefined) {
      if (isAtSocket(url) || !hasFailed || (await isFree(Number(port)))) return false;
      throw new EnvError(`Another program uses the database's port ${port}. Restart Spoor to choose another one.`);
    }
    const now = (await readLockFile(server)).port;
    if (now && now !== port) throw new EnvError("The database restarted at another address. Restart Spoor.");
    return true;
  };
  const { signal } = server.ending;
  const stop = async (whileOwned?: () => Promise<void>) => {
    server.ending.abort();
    await watching?.catch(() => {}); // `keep` has reported it
    await leave(server, whileOwned);
  };
  return {
    keep: (say: (line: string) => void) => {
      const start = async () => {
        hasFailed = true;
        await startServer(server, { say, signal, patienceSeconds }, url);
        hasFailed = false;
      };
      watching = keepRunning({ isRunning, start, say }, signal);
      return watching;
    },
    whenUp: async () => {
      while (!signal.aborted && !(await lookAt(server)).url) await pause(signal);
    },
    stop: () => stop(),
    stopAround: stop,
  };
}

async function stopServer(server: EmbeddedServer): Promise<void> {
  if ((await findPostmaster(server)) === undefined) return;
  try {
    await control(server.programs, server.cluster, ["stop", "-m", "fast", "-w", "-t", "15"]);
  } catch (error) {
    if ((await findPostmaster(server)) !== undefined) throw error; // otherwise another process has stopped it
  }
}

/**
 * Locks or shared memory of a killed server may be in the way.
 * @param former the URL of the server to replace
 */
async function startServer(server: EmbeddedServer, options: StartOptions, former?: string): Promise<string> {
  const { say = () => {}, signal = server.ending.signal, patienceSeconds = 30 } = options;
  const startedAt = performance.now();
  let failure: Error | undefined;
  let isTold = false;
  for (;;) {
    const isOwn = await mayStart(server);
    const other = isOwn ? undefined : await findOwner(server.owner);
    const isPassing = other?.kind === "command";
    const { url, isStarting } = await lookAt(server);
    if (url && !isPassing) return url;
    signal.throwIfAborted();
    const tookMs = performance.now() - startedAt;
    if (isStarting || isPassing) {
      if (tookMs > tellMs && !isTold)
        say(
          isPassing
            ? `Waiting for process ${other.pid}, which uses the database.`
            : `${recovering} ${logFile(server)}.`,
        );
      isTold ||= tookMs > tellMs;
    } else {
      // A new cluster's server is started once, even if making it used up the time.
      const isTried = !isOwn || failure !== undefined;
      if (isTried && tookMs > patienceSeconds * 1000) throw await notStarted(server, failure);
      if (isOwn) failure = await callStart(server, await choosePlace(server, options, former));
      if (isOwn && !failure) continue;
    }
    await pause(signal);
  }
}

const tellMs = 3000;
const recovering =
  "The database is recovering after a crash or a power failure, which can take minutes. Its progress is in";

const pause = (signal: AbortSignal): Promise<void> => sleep(500, undefined, { signal }).catch(() => {});

/** No other account may enter a socket in the cluster's folder; every account reaches a loopback port. */
async function choosePlace(
  { cluster }: EmbeddedServer,
  { tcp = false }: StartOptions,
  former?: string,
): Promise<ListenPlace> {
  const isLocal = former ? isAtSocket(former) : !tcp && (await mayHoldSocket(cluster));
  if (isLocal) return { listen_addresses: "", unix_socket_directories: ".", port: socketPort };
  const port = former ? Number(new URL(former).port) : await freePort();
  return { listen_addresses: "127.0.0.1", unix_socket_directories: "", port };
}

type ListenPlace = { listen_addresses: string; unix_socket_directories: string; port: number };

/** @returns an error if the start fails or takes over five seconds */
async function callStart(server: EmbeddedServer, place: ListenPlace): Promise<Error | undefined> {
  await removeStaleLockFile(server);
  const settings = { ...serverSettings, ...place };
  const options = Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
  const words = ["start", "-w", "-t", "5", "-l", logFile(server), "-o", options];
  return control(server.programs, server.cluster, words).then(
    () => undefined,
    (error: Error) => error,
  );
}

async function notStarted(server: EmbeddedServer, failure: Error | undefined): Promise<EnvError> {
  const { programs, cluster } = server;
  const as = programs.owner ? ` as account ${programs.owner.uid}, which owns ${cluster}` : "";
  const why = (await readLogTail(server)) || failure?.message;
  return new EnvError(`The embedded PostgreSQL did not start${as}.\n${why}`, { cause: failure });
}

const serverSettings = {
  shared_buffers: "192MB",
  max_wal_size: "4GB",
  max_connections: 100,
  // This log would grow without bounds.
  log_min_messages: "log",
};

const logFile = ({ cluster }: EmbeddedServer): string => join(cluster, "server.log");

async function readLogTail(server: EmbeddedServer): Promise<string> {
  const text = await readFile(logFile(server), "utf8").catch(() => "");
  // each attempt to connect during a start leaves such a line
  const telling = text.split("\n").filter((line) => line && !line.endsWith("the database system is starting up"));
  return telling.slice(-12).join("\n");
}
