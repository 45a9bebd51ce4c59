// Whether there are builds of exactly these sources.
import { existsSync, readFileSync } from "node:fs";
import { clientFile, serverFolder } from "#lib/server/outputs";
import { digestFiles, webDigest } from "#lib/server/sources";

/** What a build leaves beside its output: the digest of the sources that it was made from. */
export const stamps = {
  web: ".next/spoor-sources.sha256",
  server: `${serverFolder}/sources.sha256`,
  client: `${clientFile}.sources.sha256`,
};

/** The digests of the sources as they are now. */
const wanted = {
  web: webDigest,
  server: () => digestFiles(["lib", "package.json", "package-lock.json"]),
  client: () => digestFiles(["cli", "lib/evidence", "lib/secrets", "package.json"]),
};

/** What is built. */
export type BuildOutput = keyof typeof stamps;

/** @returns the digest that a build is to be stamped with; undefined where there is a build of it already */
export function missing(output: BuildOutput): string | undefined {
  const digest = wanted[output]();
  return readStamp(output) === digest && (output !== "client" || existsSync(clientFile)) ? undefined : digest;
}

function readStamp(output: BuildOutput): string | undefined {
  const path = stamps[output];
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
