// next.config.ts imports this file, so it uses only Node's own modules.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const webSources = [
  "app",
  "common",
  "lib",
  "server",
  "public",
  "middleware.ts",
  "instrumentation.ts",
  "next.config.ts",
  "postcss.config.mjs",
  "package-lock.json",
  "tsconfig.json",
];

/** Hosts that build the same sources agree on this digest. */
export const webDigest = (): string => digestFiles(webSources);

/** Each start waits for this, and reading without promises takes 70 ms instead of 450. */
export function digestFiles(paths: string[]): string {
  const hash = createHash("sha256");
  for (const path of paths.flatMap(filesBelow)) hash.update(`${path}\0`).update(readFileSync(path));
  return hash.digest("hex");
}

function filesBelow(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
