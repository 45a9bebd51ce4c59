import { createHash, randomBytes } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import {
  link,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  statfs,
  unlink,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "../errors.ts";
import { formatBytes, formatCount } from "../terminal/format.ts";

export type PlannedFile = {
  /** Relative to the agent's folder, with `/`. */
  path: string;
  bytes: number;
  sha256: string;
  read(): AsyncIterable<Uint8Array>;
};

/** A `continued` file was a prefix of the copy and was extended; a `kept` one has more than the copy. */
export type RestoredFile = {
  path: string;
  bytes: number;
  wrote: "new" | "same" | "continued" | "kept" | "replaced";
  setAside?: string;
};

type Found = "missing" | "same" | "shorter" | "longer" | "different";

const maxFiles = 100_000;
const stagingPrefix = ".spoor-resume-";
/** An older staging folder was left by a killed run. */
const stagingMs = 3_600_000;

/**
 * Writes nothing unless every file can be written. The last file appears last.
 *
 * @param home may itself be a link, but nothing below it
 * @param force renames existing files that differ
 * @throws CommandError if a file would replace a different one, is behind a link, or has the wrong hash
 */
export async function restoreFiles(
  home: string,
  files: readonly PlannedFile[],
  { force = false }: { force?: boolean } = {},
): Promise<RestoredFile[]> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const root = await realpath(home);
  const found = new Map<PlannedFile, Found>();
  for (const file of files) {
    const state = await inspect(root, file);
    found.set(file, force && state === "longer" ? "different" : state);
  }
  if (!force) refuseDifferent(root, found);
  await requireSpace(
    root,
    [...found].flatMap(([{ bytes }, state]) => (isThere(state) ? [] : bytes)),
  );
  await sweepStaging(root);
  const staging = await mkdtemp(join(root, stagingPrefix));
  try {
    const staged = new Map<PlannedFile, string>();
    for (const file of files) if (!isThere(found.get(file))) staged.set(file, await stage(staging, file));
    for (const [file, from] of staged) {
      if (found.get(file) === "shorter" && !(await isBeginning(toPath(root, file), from))) found.set(file, "different");
    }
    if (!force) refuseDifferent(root, found);
    const restored: RestoredFile[] = [];
    for (const file of files) {
      const from = staged.get(file);
      const wrote = found.get(file) === "longer" ? "kept" : "same";
      restored.push(from === undefined ? { ...about(file), wrote } : await place(root, from, file, found));
    }
    return restored;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function refuseDifferent(root: string, found: ReadonlyMap<PlannedFile, Found>): void {
  const different = [...found.keys()].filter((file) => found.get(file) === "different");
  if (different.length === 0) return;
  const names = different.slice(0, 3).map((file) => toPath(root, file));
  throw new CommandError(
    "failed",
    `Another file is already there: ${names.join(", ")}${different.length > 3 ? ", …" : ""}. Rename it with --force.`,
  );
}

const isThere = (state: Found | undefined): boolean => state === "same" || state === "longer";

const toPath = (root: string, { path }: PlannedFile): string => join(root, ...path.split("/"));

const about = ({ path, bytes }: PlannedFile) => ({ path, bytes });

async function inspect(root: string, { path, bytes, sha256 }: PlannedFile): Promise<Found> {
  const names = path.split("/");
  for (let count = 1; count <= names.length; count++) {
    const at = join(root, ...names.slice(0, count));
    const known = await lstat(at).catch(ignoreMissing);
    if (!known) return "missing";
    if (known.isSymbolicLink()) throw new CommandError("failed", `${at} is a link, so nothing was written through it.`);
    if (count < names.length && !known.isDirectory()) throw new CommandError("failed", `${at} is not a folder.`);
    if (count === names.length) {
      if (!known.isFile()) throw new CommandError("failed", `${at} is not a file.`);
      if (known.size < bytes) return "shorter";
      if ((await hashFile(at, bytes)) !== sha256) return "different";
      return known.size > bytes ? "longer" : "same";
    }
  }
  return "missing";
}

async function stage(folder: string, { path, bytes, sha256, read }: PlannedFile): Promise<string> {
  const to = join(folder, randomBytes(6).toString("hex"));
  const hash = createHash("sha256");
  let written = 0;
  const file = await open(to, "wx", 0o600);
  try {
    for await (const part of read()) {
      hash.update(part);
      written += part.length;
      await file.writeFile(part);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (written !== bytes || hash.digest("hex") !== sha256)
    throw new CommandError("failed", `The copy of ${path} is damaged: its hash is wrong. Nothing was restored.`);
  return to;
}

async function place(
  root: string,
  from: string,
  file: PlannedFile,
  found: ReadonlyMap<PlannedFile, Found>,
): Promise<RestoredFile> {
  const to = toPath(root, file);
  await makeFolders(root, dirname(file.path));
  const before = found.get(file);
  const setAside = before === "different" ? await putAside(to) : undefined;
  if (before === "shorter") await extend(from, to);
  else await appear(from, to);
  if ((await hashFile(to)) !== file.sha256) throw new CommandError("failed", `${to} was not written correctly.`);
  if (before === "shorter") return { ...about(file), wrote: "continued" };
  return { ...about(file), wrote: setAside ? "replaced" : "new", ...(setAside && { setAside }) };
}

/** An agent may have the file open. @throws CommandError if it has written to it */
async function extend(from: string, to: string): Promise<void> {
  const { O_WRONLY, O_APPEND, O_NOFOLLOW = 0 } = constants;
  const file = await open(to, O_WRONLY | O_APPEND | O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    if (!(await isBeginning(to, from)) || (await file.stat()).size !== size)
      throw new CommandError("failed", `${to} changed meanwhile. End the session in its agent first.`);
    for await (const part of createReadStream(from, { start: size })) await file.appendFile(part as Buffer);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function isBeginning(path: string, of: string): Promise<boolean> {
  const { size } = await stat(path);
  return (await hashFile(path)) === (await hashFile(of, size));
}

async function putAside(path: string): Promise<string> {
  const to = `${path}.before-${new Date().toISOString().replace(/\D/g, "").slice(0, 14)}-${randomBytes(2).toString("hex")}`;
  await rename(path, to);
  return to;
}

/** Checks again, because a folder may have become a link since `inspect`. */
async function makeFolders(root: string, path: string): Promise<void> {
  let at = root;
  for (const name of path.split("/")) {
    if (name === ".") continue;
    at = join(at, name);
    await mkdir(at, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    if (!(await lstat(at)).isDirectory()) throw new CommandError("failed", `${at} is not a folder.`);
  }
}

/** Unlike a rename, a hard link never replaces a file. */
async function appear(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
    await unlink(from);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(code)) throw error;
    if (await lstat(to).catch(ignoreMissing)) throw new CommandError("failed", `Another file is already there: ${to}.`);
    await rename(from, to);
  }
}

/** @param bytes hashes only this many from the start */
async function hashFile(path: string, bytes?: number): Promise<string> {
  const hash = createHash("sha256");
  if (bytes === 0) return hash.digest("hex");
  const end = bytes === undefined ? {} : { end: bytes - 1 };
  for await (const part of createReadStream(path, end)) hash.update(part as Buffer);
  return hash.digest("hex");
}

/** A forged copy could fill the disk. */
async function requireSpace(root: string, sizes: readonly number[]): Promise<void> {
  const { bavail, bsize } = await statfs(root);
  const wanted = sizes.reduce((sum, bytes) => sum + bytes, 0);
  if (sizes.length <= maxFiles && wanted <= (bavail * bsize) / 2) return;
  const what = `${formatCount(sizes.length, "file")} with ${formatBytes(wanted)}`;
  throw new CommandError("failed", `The copy has ${what}, too much for this disk. Nothing was restored.`);
}

async function sweepStaging(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const path = join(root, name);
    if (!name.startsWith(stagingPrefix) || Date.now() - (await stat(path)).mtimeMs < stagingMs) continue;
    await rm(path, { recursive: true, force: true });
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
