import "server-only";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "#lib/core/digest";
import { env } from "#lib/core/env";
import { type Kept, keep } from "#lib/http/kept";

/** The built client has it in place of the server's address (cli/settings.ts). */
const addressPlaceholder = "@SPOOR_SERVER@";

export type Client = { kept: Kept; version: string; sha256: string; bytes: number };

let known: { stamp: string; client: Client } | undefined;

// From a variable the build can't see which file a route reads, and packs the whole project with it.
const statBuilt = () => stat(join(process.cwd(), "dist/spoor.mjs"));
const readBuilt = () => readFile(join(process.cwd(), "dist/spoor.mjs"), "utf8");

/** @returns undefined if it has not been built */
export async function readClient(): Promise<Client | undefined> {
  const found = await statBuilt().catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  const { BASE_URL } = env();
  const stamp = [found.ino, found.size, found.mtimeMs, BASE_URL].join();
  if (known?.stamp !== stamp) known = { stamp, client: makeClient(await readBuilt(), BASE_URL) };
  return known.client;
}

function makeClient(built: string, address: string): Client {
  const text = built.replaceAll(addressPlaceholder, address);
  const kept = keep(text);
  return {
    kept,
    version: /^\/\/ spoor (\S+):/m.exec(text)?.[1] ?? "",
    sha256: sha256(kept.bytes).toString("hex"),
    bytes: kept.bytes.length,
  };
}

export async function describeClient(): Promise<Pick<Client, "version" | "sha256" | "bytes"> | null> {
  const client = await readClient();
  return client ? { version: client.version, sha256: client.sha256, bytes: client.bytes } : null;
}
