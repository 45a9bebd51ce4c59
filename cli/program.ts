import { basename, relative } from "node:path";

const [, path = "spoor"] = process.argv;
const local = relative(currentFolder() ?? "/", path);

/** The names of npm's link, of the launcher's target (cli/install/places.ts), and of npm's file on Windows. */
const isCommand =
  basename(path) === "spoor" || basename(path) === "client.mjs" || /node_modules.spoor-client/.test(path);

export const program = isCommand ? "spoor" : `node ${local.startsWith("..") || local === "" ? path : local}`;

export function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

declare const SPOOR_VERSION: string | undefined;

export const running = {
  /** npm may have linked it. */
  file: process.argv[1] ?? "",
  /** The build inserts the application's version. */
  version: typeof SPOOR_VERSION === "string" ? SPOOR_VERSION : "source",
  /** The server inserts its address when it delivers the file (server/build/client-file.ts). */
  deliveredBy: "@SPOOR_SERVER@",
};
