import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { isMissingOrForbidden } from "./discovery.ts";
import { parseJson } from "./json-lines.ts";

/** Settings and tokens, by the XDG Base Directory Specification. */
export const configFolder = ({ env, home }: Host): string =>
  join(env.XDG_CONFIG_HOME || join(home, ".config"), "spoor");

/** What is remembered between runs, and can be deleted at any time. */
export const stateFolder = ({ env, home }: Host): string =>
  join(env.XDG_STATE_HOME || join(home, ".local", "state"), "spoor");

/**
 * Writes a file of this user's alone, whole or not at all: whoever is killed in the middle leaves the old one.
 *
 * @throws Failure where the folder can't be made or written to
 */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(temporary, text, { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // where it could not be made there is nothing to remove
    throw new CommandError("failed", `${path} can't be written: ${(error as Error).message}.`);
  }
}

/** A JSON file's value; undefined where there is none, or none that can be read: what is in it is made anew. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return parseJson(await readFile(path, "utf8"));
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}
