// SQL: slices of values and lists of pairs, for what is stored by its user and SHA-256.
import "server-only";
import { pool } from "#lib/db/client";

type BodyTable = "picture" | "original_part";

export const decodeHashes = (hashes: string[]) => hashes.map((hash) => Buffer.from(hash, "hex"));

/** STORAGE EXTERNAL makes a slice cost only its size. @param from first byte, counted from 1 */
export async function readSlice(
  table: BodyTable,
  { userId, sha256 }: { userId: string; sha256: string },
  from: number,
  bytes: number,
): Promise<Buffer | undefined> {
  const { rows } = await pool().query<{ slice: Buffer | null }>(
    `select substring(body from $3 for $4) as slice from ${table} where user_id = $1 and sha256 = $2`,
    [userId, Buffer.from(sha256, "hex"), from, bytes],
  );
  return rows[0]?.slice ?? undefined;
}

export async function findObjects(table: BodyTable, given: { userId: string; sha256: string }[]): Promise<Set<string>> {
  if (given.length === 0) return new Set();
  const { rows } = await pool().query<{ object: string }>(
    `select object from unnest($1::uuid[], $2::bytea[]) as given (user_id, sha256) join ${table} using (user_id, sha256)
     where object is not null`,
    [given.map(({ userId }) => userId), decodeHashes(given.map(({ sha256 }) => sha256))],
  );
  return new Set(rows.map(({ object }) => object));
}
