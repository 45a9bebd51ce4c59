// Tags of several traces at once. SQL: Prisma adds to a list without looking at what it has.
import "server-only";
import { pool } from "#lib/db/client";

export async function addTagTo(userId: string, ids: string[], tag: string, max: number): Promise<void> {
  await pool().query(
    `update trace set tags = tags || $3::text, search_pending = true
     where user_id = $1::uuid and id = any($2::uuid[]) and deleted_at is null
       and not $3::text = any(tags) and cardinality(tags) < $4`,
    [userId, ids, tag, max],
  );
}
