import "server-only";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { call, type Programs, programsVersion, runAlone } from "./postgres-programs.ts";
import type { Cluster } from "./postmaster.ts";

const run = promisify(execFile);

/** A cluster that is to be made: its folder, its superuser's password, and the programs. */
type NewCluster = Cluster & { programs: Programs };

/**
 * Creates a cluster in a temporary folder and renames it, so that a killed start leaves none incomplete.
 *
 * @param kept where `keepCluster` may have left one. Copied, it is there in 0.2 s, with its schema; `initdb` takes 0.7 to 1.2 s.
 * @param meanwhile called while other programs do the work.
 */
export async function makeCluster(wanted: NewCluster, kept: string | undefined, meanwhile: () => void): Promise<void> {
  const draft = await mkdtemp(`${wanted.cluster}.`);
  try {
    if (wanted.programs.owner) await chmod(dirname(wanted.cluster), 0o711);
    if (!kept || !(await copyKept(wanted, kept, draft, meanwhile))) await initialize(wanted, draft, meanwhile);
    await rename(draft, wanted.cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error; // another start was first: its cluster is used
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function initialize({ programs, password }: NewCluster, draft: string, meanwhile: () => void): Promise<void> {
  const passwordFile = `${draft}.password`;
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (programs.owner) {
    await chown(draft, programs.owner.uid, programs.owner.gid);
    await chown(passwordFile, programs.owner.uid, programs.owner.gid);
  }
  try {
    const words = ["--username=spoor", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"];
    const made = call(programs, "initdb", [`--pgdata=${draft}`, ...words, `--pwfile=${passwordFile}`]);
    meanwhile();
    await made;
  } finally {
    await rm(passwordFile, { force: true });
  }
}

const clusterOf = (kept: string): string => join(kept, "postgres");
/** Contains which programs made a kept cluster, and a number of its own; missing while that is incomplete. */
const stampOf = (kept: string): string => join(kept, "made-by");

/**
 * Copies a kept cluster and gives it this installation's password. The copy is flushed to disk, as `initdb` does.
 *
 * @returns false, with an empty draft, where there is none of these programs, or it can't be read, copied or changed: a
 *   cluster can always be made by `initdb`.
 */
async function copyKept(
  { programs, password }: NewCluster,
  kept: string,
  draft: string,
  meanwhile: () => void,
): Promise<boolean> {
  const readStamp = () => readFile(stampOf(kept), "utf8").catch(() => "");
  try {
    const stamp = await readStamp();
    if (stamp.split("\n")[0] !== (await programsVersion(programs.bin))) return false;
    const copied = run("cp", ["-R", `${clusterOf(kept)}/.`, draft]);
    meanwhile();
    await copied;
    if (programs.owner) await run("chown", ["-R", `${programs.owner.uid}:${programs.owner.gid}`, draft]);
    await runAlone(programs, draft, `alter role spoor password '${password.replaceAll("'", "''")}'`);
    await call(programs, "initdb", ["--sync-only", `--pgdata=${draft}`]);
    if (stamp === (await readStamp())) return true; // else a build has replaced it, and the copy may be of both
  } catch {
    // What of it was copied goes.
  }
  await rm(draft, { recursive: true });
  await mkdir(draft, { mode: 0o700 });
  return false;
}

/**
 * Keeps a cluster that no server runs on for `makeCluster` to copy, in place of one that was kept before.
 *
 * @param cluster its folder, which is moved; on the same file system.
 */
export async function keepCluster(cluster: string, kept: string, bin: string): Promise<void> {
  await mkdir(kept, { recursive: true });
  await rm(stampOf(kept), { force: true });
  await rm(clusterOf(kept), { recursive: true, force: true });
  for (const name of ["server.log", "postmaster.opts"]) await rm(join(cluster, name), { force: true });
  await rename(cluster, clusterOf(kept));
  await writeFile(stampOf(kept), `${await programsVersion(bin)}\n${randomBytes(8).toString("hex")}\n`);
}
