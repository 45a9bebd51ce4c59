import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isMissingOrForbidden } from "./discovery.ts";
import { parseJson } from "./json.ts";
import { readTextFile } from "./text-file.ts";

/** Where settings and tokens are kept (XDG Base Directory Specification). */
export const configFolder = ({ env, home }: Host): string =>
  join(env.XDG_CONFIG_HOME || join(home, ".config"), "spoor");

/** Where state is kept between runs. It may be deleted at any time. */
export const stateFolder = ({ env, home }: Host): string =>
  join(env.XDG_STATE_HOME || join(home, ".local", "state"), "spoor");

/** Of a file's own name and six bytes in hexadecimal: what it is renamed from. */
const draftName = /\.json\.[0-9a-f]{12}$/;
/** A draft that is older was left behind by a process that was killed: it may hold a token, and megabytes of what was sent. */
const draftMs = 3_600_000;
const sweptFolders = new Set<string>();

/** Removes old drafts of a folder, once in a process. */
async function sweepDrafts(folder: string): Promise<void> {
  if (sweptFolders.has(folder)) return;
  sweptFolders.add(folder);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (draftName.test(name) && Date.now() - (await stat(path)).mtimeMs > draftMs) await rm(path, { force: true });
  }
}

/**
 * Writes a file at mode 0600, whole or not at all.
 *
 * @throws CommandError where it can't be written
 */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(temporary, text, { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
    await sweepDrafts(dirname(path)).catch(() => {}); // another process may be faster
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // it may never have been created
    throw new CommandError("failed", `Can't write ${path}: ${(error as Error).message}.`);
  }
}

/** Reads a text file; empty if it is missing, forbidden or no file. */
export async function readTextIfAny(path: string): Promise<string> {
  try {
    return (await readTextFile(path)) ?? "";
  } catch (error) {
    if (isMissingOrForbidden(error)) return "";
    throw error;
  }
}

/** Reads a JSON file; undefined if it is missing, forbidden, no file or not valid JSON. */
export const readJsonFile = async (path: string): Promise<unknown> => parseJson(await readTextIfAny(path));
