import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { receiveOriginal, receivePart } from "#lib/ingest/originals/accept";
import { getPart } from "#lib/originals/queries";
import { getManifest, type Part } from "../support/parts.ts";

/** Copies in PostgreSQL, none so far. */
export async function clearCopies(): Promise<void> {
  setEnv({ UPLOAD_STORE: undefined, UPLOAD_S3_BUCKET: undefined, USER_QUOTA_BYTES: undefined });
  const tables = ["ingest_job", "trace", "original_key", "original_use", "original", "original_part", "object_removal"];
  for (const table of tables) await pool().query(`delete from ${table}`);
}

/** The hashes of all stored parts. */
export async function storedParts(): Promise<string[]> {
  const { rows } = await pool().query("select encode(sha256, 'hex') as hash from original_part order by hash");
  return rows.map(({ hash }) => hash);
}

export const getHashes = (...parts: Part[]) => parts.map(({ sha256 }) => sha256).toSorted();

/** As if all that happened before was a day ago. */
export const aDayLater = () =>
  pool().query(
    "update original_part set unused_since = unused_since - interval '25 hours' where unused_since > 'epoch'",
  );

/** Sends and reads copies as a user's client does. */
export function getCopies(userId: string) {
  const key = (sourceId: string) => ({ source: "claude-code", sourceId });
  return {
    key,
    putPart: ({ bytes, sha256 }: Part, headers: Record<string, string> = {}) =>
      receivePart(
        new Request(`http://localhost/api/originals/parts/${sha256}`, {
          method: "PUT",
          headers: { "Content-Type": "application/octet-stream", ...headers },
          body: bytes,
        }),
        userId,
        sha256,
      ),
    getPart: async ({ sha256 }: Part) => Buffer.from(await (await getPart(userId, sha256)).arrayBuffer()),
    /** @returns the version */
    put: async (sourceId: string, parts: Part[], seen?: string, more: object = {}) => {
      const request = new Request("http://localhost/", {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ...getManifest(...parts), ...more }),
      });
      const { version } = await receiveOriginal(request, { userId, machine: "laptop" }, key(sourceId), seen);
      return version;
    },
  };
}
