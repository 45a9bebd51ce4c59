import "server-only";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "#lib/digest";
import { env } from "#lib/env";
import { clientFile } from "#lib/server/outputs";

/** The placeholder for the server's address in the built client (cli/settings.ts). */
const addressPlaceholder = "@SPOOR_SERVER@";

/**
 * Reads the client and inserts this server's address, its default server.
 *
 * @returns its text and its entity tag; undefined where it has not been built
 */
export async function readClient(): Promise<{ text: string; etag: string } | undefined> {
  const built = await readFile(join(process.cwd(), clientFile), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (built === undefined) return undefined;
  const text = built.replaceAll(addressPlaceholder, env().BASE_URL);
  return { text, etag: `"${sha256(text).toString("base64url").slice(0, 22)}"` };
}
