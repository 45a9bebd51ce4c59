import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { receivePicture } from "#lib/ingest/pictures/accept";
import { wholeRange } from "#lib/masking/for-others";
import { readPicture } from "#lib/messages/pictures/read-picture";
import { naming, type Sample } from "../support/pictures.ts";
import { getUploads } from "./uploads.ts";

export const missing = { code: "not_found" };

/** Pictures in PostgreSQL, none so far. */
export async function clearPictures(): Promise<void> {
  setEnv({
    UPLOAD_STORE: undefined,
    UPLOAD_S3_BUCKET: undefined,
    USER_QUOTA_BYTES: undefined,
    ENCRYPTION_KEY: undefined,
  });
  for (const table of ["ingest_job", "trace", "picture", "trace_picture", "object_removal"])
    await pool().query(`delete from ${table}`);
}

/** A session with a message for each list of pictures. */
export const session = (sourceId: string, ...pictures: Sample[][]) => ({
  sourceId,
  messages: pictures.map((own, position) => ({ position, role: "user", content: "see", metadata: naming(...own) })),
});

/** The hashes of all stored pictures. */
export async function storedHashes(): Promise<string[]> {
  const { rows } = await pool().query("select encode(sha256, 'hex') as hash from picture order by hash");
  return rows.map(({ hash }) => hash);
}

/** Sends and reads pictures as a user's client does. */
export function getPictures(userId: string) {
  const { findId } = getUploads(userId);
  return {
    findId,
    put: ({ sha256, mediaType, bytes }: Sample, as = userId) => {
      const init = { method: "PUT", headers: { "Content-Type": mediaType }, body: bytes };
      return receivePicture(new Request(`http://localhost/api/pictures/${sha256}`, init), as, sha256);
    },
    read: async (sourceId: string, { sha256 }: Sample, as = userId) => {
      const wanted = { userId: as, traceId: await findId(sourceId), ...wholeRange, turn: as };
      return Buffer.from(await new Response((await readPicture(wanted, sha256)).body).arrayBuffer());
    },
  };
}
