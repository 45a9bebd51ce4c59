import { existsSync, readFileSync } from "node:fs";
import { digestFiles, webDigest } from "#server/build/sources";

export const clientFile = "dist/spoor.mjs";

export const serverFolder = "dist/server";

export const stamps = {
  web: ".next/spoor-sources.sha256",
  server: `${serverFolder}/sources.sha256`,
  client: `${clientFile}.sources.sha256`,
};

const wanted = {
  web: webDigest,
  server: () => digestFiles(["common", "lib", "server", "package.json", "package-lock.json"]),
  client: () => digestFiles(["cli", "common", "package.json"]),
};

export type BuildOutput = keyof typeof stamps;

/** Undefined if the build is up to date. */
export function missing(output: BuildOutput): string | undefined {
  const digest = wanted[output]();
  return readStamp(output) === digest && (output !== "client" || existsSync(clientFile)) ? undefined : digest;
}

function readStamp(output: BuildOutput): string | undefined {
  const path = stamps[output];
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
