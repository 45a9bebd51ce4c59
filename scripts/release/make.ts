// This module makes everything that a release consists of.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { sha256 } from "#lib/core/digest";
import { buildIfNeeded } from "#server/build/build";
import { packClient } from "#server/build/pack-client";
import { serverFolder } from "#server/build/stamps";
import { readComponents } from "./components.ts";
import { findNotes } from "./notes.ts";
import { packServer } from "./server-package.ts";

/** Where a release is put: what Git ignores. */
export const releaseFolder = "release";

/**
 * Makes the packages, the bill of materials, the notes and the sums of this checkout's version.
 *
 * @param repository where the sources are, for the packages
 * @throws where the changelog says nothing of the version
 */
export async function makeRelease(say: (line: string) => void, repository?: string): Promise<void> {
  const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
  const notes = findNotes(await readFile("CHANGELOG.md", "utf8"), version);
  await rm(serverFolder, { recursive: true, force: true }); // chunks of former builds are in it
  await buildIfNeeded(say);
  await rm(releaseFolder, { recursive: true, force: true });
  await mkdir(releaseFolder);
  const { bom, licenses } = await readComponents();
  const draft = await mkdtemp(join(tmpdir(), "spoor-release-"));
  try {
    for (const path of [await packServer(draft, licenses, repository), await packClient(draft, repository)]) {
      await copyFile(path, join(releaseFolder, basename(path)));
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await writeFile(join(releaseFolder, `spoor-server-${version}.cdx.json`), bom);
  await writeSums();
  await writeFile(join(releaseFolder, "NOTES.md"), notes);
  for (const name of (await readdir(releaseFolder)).sort()) {
    say(`${String(Math.ceil((await stat(join(releaseFolder, name))).size / 1000)).padStart(7)} kB  ${name}`);
  }
}

/** As `sha256sum --check` reads it. */
async function writeSums(): Promise<void> {
  const lines: string[] = [];
  for (const name of (await readdir(releaseFolder)).sort()) {
    lines.push(`${sha256(await readFile(join(releaseFolder, name))).toString("hex")}  ${name}\n`);
  }
  await writeFile(join(releaseFolder, "SHA256SUMS"), lines.join(""));
}
