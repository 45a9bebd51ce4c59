import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { readTextFile } from "./byte-reader.ts";
import { isMissingOrForbidden } from "./discovery.ts";
import { parseJson } from "./json.ts";

/** The folder of settings and tokens (XDG Base Directory Specification). */
export const configFolder = ({ env, home }: Host): string =>
  join(env.XDG_CONFIG_HOME || join(home, ".config"), "spoor");

/** The folder of state between runs, which may be deleted at any time. */
export const stateFolder = ({ env, home }: Host): string =>
  join(env.XDG_STATE_HOME || join(home, ".local", "state"), "spoor");

const draftName = /\.json\.[0-9a-f]{12}$/;
/** An older draft was left by a killed process and may contain a token. */
const draftMs = 3_600_000;
const sweptFolders = new Set<string>();

async function sweepDrafts(folder: string): Promise<void> {
  if (sweptFolders.has(folder)) return;
  sweptFolders.add(folder);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (draftName.test(name) && Date.now() - (await stat(path)).mtimeMs > draftMs) await rm(path, { force: true });
  }
}

/** Writes a file completely or not at all, at mode 0600. @throws CommandError if it can't be written */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(temporary, text, { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
    await sweepDrafts(dirname(path)).catch(() => {});
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
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
