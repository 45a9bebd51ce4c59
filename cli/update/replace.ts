import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Host } from "../adapters/adapter.ts";
import { CommandError } from "../errors.ts";
import { computeSha256 } from "../install/files.ts";
import { readManifest, writeManifest } from "../install/manifest.ts";

const draftName = /^\.spoor-[0-9a-f]{12}\.mjs$/;
const staleMs = 3_600_000;

/**
 * The new program must first run and print its version.
 *
 * @throws CommandError if it does not run or can't be written
 */
export async function replaceProgram(host: Host, path: string, bytes: Uint8Array, version: string): Promise<void> {
  const draft = join(dirname(path), `.spoor-${randomBytes(6).toString("hex")}.mjs`);
  try {
    await removeStaleDrafts(dirname(path));
    const { mode } = await stat(path);
    const file = await open(draft, "wx", mode & 0o777);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    const { stdout } = spawnSync(process.execPath, [draft, "--version"], { encoding: "utf8", timeout: 30_000 });
    if (stdout?.trim() !== version) {
      throw new CommandError(
        "failed",
        `Version ${version} does not run on Node ${process.version}. Nothing was changed.`,
      );
    }
    await record(host, path, computeSha256(bytes));
    await rename(draft, path);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError("failed", `Can't replace ${path}: ${(error as Error).message}. Nothing was changed.`);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Records the new content before it is written, so that `uninstall` knows both. */
async function record(host: Host, path: string, hash: string): Promise<void> {
  const manifest = await readManifest(host);
  const known = manifest?.files[path];
  if (!manifest || !known) return;
  await writeManifest(host, { ...manifest, files: { ...manifest.files, [path]: [...known.slice(-1), hash] } });
}

async function removeStaleDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (draftName.test(name) && Date.now() - (await stat(path)).mtimeMs > staleMs) await rm(path, { force: true });
  }
}
