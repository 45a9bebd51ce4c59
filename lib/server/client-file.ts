import "server-only";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "#lib/digest";
import { env } from "#lib/env";

/** Where the build puts the client (lib/server/build.ts). */
export const clientFile = "dist/spoor.mjs";

/** What stands in the built client where the server's own address belongs (cli/settings.ts). */
const addressMark = "@SPOOR_SERVER@";

/**
 * The client as this server delivers it: it talks to this server unless it is told otherwise.
 *
 * @returns its text and its entity tag; undefined where it was not built
 */
export async function readClient(): Promise<{ text: string; etag: string } | undefined> {
  const built = await readFile(join(process.cwd(), clientFile), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (built === undefined) return undefined;
  const text = built.replaceAll(addressMark, env().BASE_URL);
  return { text, etag: `"${sha256(text).toString("base64url").slice(0, 22)}"` };
}
