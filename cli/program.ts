import { basename, relative } from "node:path";

const [, path = "spoor"] = process.argv;
const local = relative(currentFolder() ?? "/", path);

/** As a command: `spoor` itself (npm's link), what its launcher runs (cli/install/places.ts), or npm's file on Windows. */
const isCommand =
  basename(path) === "spoor" || basename(path) === "client.mjs" || /node_modules.spoor-client/.test(path);

/** How to call this program in suggested commands: `node spoor.mjs`, or `spoor` where it is installed as a command. */
export const program = isCommand ? "spoor" : `node ${local.startsWith("..") || local === "" ? path : local}`;

/** The folder that the program was started in; undefined where it was removed. */
export function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
