// SQL: Prisma takes no locks and can't append to a list.
import "server-only";
import { type Db, pool } from "#lib/db/client";
import { Prisma } from "#lib/generated/prisma/client";

/** The order of an upload's locks, to avoid deadlocks. */
const inOrder = Prisma.raw(`order by source collate "C", source_id collate "C" for no key update`);

export async function lockForMarks(tx: Db, userId: string, ids: string[]): Promise<void> {
  await tx.$queryRaw`
    select id from trace where user_id = ${userId}::uuid and id = any(${ids}::uuid[]) and deleted_at is null ${inOrder}`;
}

export async function addTagTo(userId: string, ids: string[], tag: string, max: number): Promise<void> {
  await pool().query(Prisma.sql`
    update trace set tags = tags || ${tag}::text, search_pending = true from (
      select id from trace where user_id = ${userId}::uuid and id = any(${ids}::uuid[]) and deleted_at is null
        and not ${tag}::text = any(tags) and cardinality(tags) < ${max} ${inOrder}) as locked
    where trace.user_id = ${userId}::uuid and trace.id = locked.id`);
}
