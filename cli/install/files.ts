import { createHash, randomBytes } from "node:crypto";
import { lstat, mkdir, open, readFile, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandError } from "../errors.ts";
import { isMissingOrForbidden } from "../files/discovery.ts";

export type PlannedFile = {
  path: string;
  text: string;
  mode: number;
  /** Windows' own programs need UTF-16. */
  encoding?: "utf8" | "utf16le";
  summary?: string;
};

export const encodeFile = ({ text, encoding = "utf8" }: Pick<PlannedFile, "text" | "encoding">): Buffer =>
  Buffer.from(text, encoding);

export const computeSha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw new CommandError("failed", `Can't read ${path}: ${(error as Error).message}.`);
  }
}

export async function listMissingFolders(path: string): Promise<string[]> {
  const folder = dirname(path);
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  return isThere || folder === dirname(folder) ? [] : [folder, ...(await listMissingFolders(folder))];
}

/**
 * It writes all or nothing. A link's target is replaced, because people link their settings to a repository.
 *
 * @param replaces the expected content; nothing is written if it differs
 * @throws CommandError if it can't be written
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

/** It waits for the disk, so that a power cut can't leave half of the file. */
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

export async function removeEmptyFolders(folders: string[]): Promise<void> {
  for (const folder of folders) {
    await rmdir(folder).catch((error) => {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!isMissingOrForbidden(error) && !["ENOTEMPTY", "EEXIST"].includes(code)) throw error;
    });
  }
}

/** A dangling link exists, too. */
export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
