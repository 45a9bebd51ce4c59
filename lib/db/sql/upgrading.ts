import "server-only";
import { pool, type Queryable } from "#lib/db/client";

/** What a release stores that the one before can't read, each with a migration of that release. */
const migrationOf = {
  passwords: "20261122160000_account_deletion",
} as const;

/** A format of what is stored. */
type Format = keyof typeof migrationOf;

/**
 * Whether processes of the release before may still serve beside this one, which do not know today's format: for a day after its
 * schema was migrated, where there were accounts then. SQL: the record of migrations is not Prisma's.
 */
export async function isUpgrading(format: Format, db: Queryable = pool()): Promise<boolean> {
  const { rows } = await db.query<{ isOver: boolean }>(
    `select finished_at < now() - interval '1 day' or not exists (select 1 from "user" where created_at < finished_at) as "isOver"
     from _prisma_migrations where migration_name = $1 and finished_at is not null`,
    [migrationOf[format]],
  );
  return !rows[0]?.isOver;
}
