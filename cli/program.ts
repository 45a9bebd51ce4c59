import { basename, relative } from "node:path";

const [, path = "spoor"] = process.argv;
const local = relative(process.cwd(), path);

/** How to call this program in suggested commands: `node spoor.mjs`, or `spoor` where it is installed as a command. */
export const program =
  basename(path) === "spoor" ? "spoor" : `node ${local.startsWith("..") || local === "" ? path : local}`;
