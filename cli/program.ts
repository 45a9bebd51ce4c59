import { basename, relative } from "node:path";

const [, path = "spoor"] = process.argv;
const local = relative(currentFolder() ?? "/", path);

/** The names of npm's link, of the launcher's target (cli/install/places.ts), and of npm's file on Windows. */
const isCommand =
  basename(path) === "spoor" || basename(path) === "client.mjs" || /node_modules.spoor-client/.test(path);

/** How to call this program in suggested commands. */
export const program = isCommand ? "spoor" : `node ${local.startsWith("..") || local === "" ? path : local}`;

/** @returns undefined if the folder was removed */
export function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
