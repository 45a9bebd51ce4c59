// What a build is made from. next.config.ts imports this, so it holds nothing but Node's own modules.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The sources of the web application's build. */
const webSources = [
  "app",
  "lib",
  "public",
  "middleware.ts",
  "instrumentation.ts",
  "next.config.ts",
  "postcss.config.mjs",
  "package-lock.json",
  "tsconfig.json",
];

/** A digest of the web application's sources: hosts that build the same ones by themselves agree on it. */
export const webDigest = (): Promise<string> => digestOf(webSources);

/** A digest of files, and of the files below folders; what does not exist counts as empty. */
export async function digestOf(paths: string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of (await Promise.all(paths.map(filesBelow))).flat()) {
    hash.update(`${path}\0`).update(await readFile(path));
  }
  return hash.digest("hex");
}

async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOTDIR") return undefined;
      if (error.code === "ENOENT") return [];
      throw error;
    },
  );
  if (!entries) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
