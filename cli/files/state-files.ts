import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
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
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // it may never have been created
    throw new CommandError("failed", `Can't write ${path}: ${(error as Error).message}.`);
  }
}

/** Reads a JSON file; undefined where it is missing, forbidden, no file or not valid JSON. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return parseJson((await readTextFile(path)) ?? "");
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}
