import { basename, relative } from "node:path";

const [, path = "spoor"] = process.argv;
const local = relative(process.cwd(), path);

/** How this program was called, for advice that can be typed as it stands: `node spoor.mjs`, or `spoor` where it is a command. */
export const program =
  basename(path) === "spoor" ? "spoor" : `node ${local.startsWith("..") || local === "" ? path : local}`;
