import "server-only";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "#lib/digest";
import { env } from "#lib/env";
import { clientFile } from "#lib/server/outputs";

/** The placeholder for the server's address in the built client (cli/settings.ts). */
const addressPlaceholder = "@SPOOR_SERVER@";

/** The client as this server delivers it. `sha256` is that of its text in hex, for who has to verify it. */
export type Client = { text: string; etag: string; version: string; sha256: string; bytes: number };

let known: { stamp: string; client: Client } | undefined;

/**
 * Reads the client and inserts this server's address, its default server.
 *
 * @returns undefined where it has not been built
 */
export async function readClient(): Promise<Client | undefined> {
  const path = join(process.cwd(), clientFile);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  const { BASE_URL } = env();
  const stamp = [found.ino, found.size, found.mtimeMs, BASE_URL].join();
  if (known?.stamp !== stamp) known = { stamp, client: clientOf(await readFile(path, "utf8"), BASE_URL) };
  return known.client;
}

function clientOf(built: string, address: string): Client {
  const text = built.replaceAll(addressPlaceholder, address);
  const hash = sha256(text);
  return {
    text,
    etag: `"${hash.toString("base64url").slice(0, 22)}"`,
    version: /^\/\/ spoor (\S+):/m.exec(text)?.[1] ?? "",
    sha256: hash.toString("hex"),
    bytes: Buffer.byteLength(text),
  };
}

/** What `GET /api/limits` says of the client; null where there is none. */
export async function describeClient(): Promise<Pick<Client, "version" | "sha256" | "bytes"> | null> {
  const client = await readClient();
  return client ? { version: client.version, sha256: client.sha256, bytes: client.bytes } : null;
}
