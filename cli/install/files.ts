import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, open, readFile, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "../errors.ts";
import { isMissingOrForbidden } from "../files/discovery.ts";

/** A file that is to have a certain text. */
export type PlannedFile = {
  path: string;
  text: string;
  mode: number;
  /** How its text is stored; Windows' own programs want UTF-16. */
  encoding?: "utf8" | "utf16le";
  /** What to show instead of its text, where that is long. */
  summary?: string;
};

export const encodeFile = ({ text, encoding = "utf8" }: Pick<PlannedFile, "text" | "encoding">): Buffer =>
  Buffer.from(text, encoding);

export const computeSha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/** @returns undefined where there is no such file. @throws CommandError where it can't be read */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw new CommandError("failed", `Can't read ${path}: ${(error as Error).message}.`);
  }
}

/** The folders that are missing above a path, the deepest first. */
export async function listMissingFolders(path: string): Promise<string[]> {
  const folder = dirname(path);
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  return isThere || folder === dirname(folder) ? [] : [folder, ...(await listMissingFolders(folder))];
}

/**
 * Replaces a file's content, whole or not at all, and keeps its mode where it exists. A link stays one: its target is replaced,
 * since people keep their settings in a repository of their own.
 *
 * @param replaces the content that is to be replaced; with another one in between nothing is written
 * @throws CommandError where it can't be written
 */
export async function replaceFile(
  path: string,
  bytes: Uint8Array,
  { mode, replaces }: { mode: number; replaces?: Uint8Array | undefined },
): Promise<void> {
  try {
    const target = await realpath(path).catch(() => path);
    await mkdir(dirname(target), { recursive: true });
    const draft = join(dirname(target), `.spoor-${randomBytes(6).toString("hex")}`);
    try {
      await writeThrough(draft, bytes, await readMode(target, mode));
      const now = await readIfThere(target);
      if (now !== undefined && (replaces === undefined || !now.equals(replaces))) {
        throw new CommandError("failed", `${path} was changed in the meantime. Nothing was written to it; try again.`);
      }
      await rename(draft, target);
    } finally {
      await rm(draft, { force: true });
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError("failed", `Can't write ${path}: ${(error as Error).message}.`);
  }
}

const readMode = (path: string, otherwise: number): Promise<number> =>
  stat(path).then(
    ({ mode }) => mode & 0o777,
    () => otherwise,
  );

/** Writes a new file and waits until it is on the disk: after a power cut it is complete, or under its old name. */
async function writeThrough(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.chmod(mode);
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Removes folders that are empty; the others stay. */
export async function removeEmptyFolders(folders: string[]): Promise<void> {
  for (const folder of folders) {
    await rmdir(folder).catch((error) => {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!isMissingOrForbidden(error) && !["ENOTEMPTY", "EEXIST"].includes(code)) throw error;
    });
  }
}

/** Whether a path exists, also as a link that leads nowhere. */
export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
