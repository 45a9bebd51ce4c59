import "server-only";
import { pool, type Queryable } from "#lib/db/client";
import { EnvError, isSchemaError } from "#lib/errors";

/** What a release stores that the one before can't read, each with a migration of that release. */
const migrationOf = {
  passwords: "20261122160000_account_deletion",
  packs: "20261127060000_message_pack",
} as const;

/** A format of what is stored. */
export type Format = keyof typeof migrationOf;

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

/** The generation of what is stored that this version reads and writes: one more with each release that adds to `migrationOf`. */
export const generation = 1;
const floorKey = "generation";

/**
 * Records that from now on this version's formats are stored, so that no version that can't read them starts on the database. Does
 * nothing while the release before may still serve. SQL: one conditional statement.
 */
export async function raiseFloor(): Promise<void> {
  if (await isUpgrading("packs")) return;
  await pool().query(
    `insert into server_setting (key, value) values ($1, $2) on conflict (key) do update
     set value = excluded.value, updated_at = now() where server_setting.value::int < excluded.value::int`,
    [floorKey, String(generation)],
  );
}

/**
 * Finds out whether a newer version has stored what this one can't read. SQL: it is asked before a migration, too.
 *
 * @returns the reason to give, or undefined where this version may use the database
 */
export async function findNewer(): Promise<string | undefined> {
  const { rows } = await pool()
    .query<{ value: string }>("select value from server_setting where key = $1", [floorKey])
    .catch((error) => {
      if (isSchemaError(error)) return { rows: [] };
      throw error;
    });
  const floor = Number(rows[0]?.value ?? 0);
  if (floor <= generation) return undefined;
  return `a newer version of Spoor has stored what this one can't read (generation ${floor}, this one reads ${generation})`;
}

/** @throws EnvError where a newer version has stored what this one can't read */
export async function refuseNewer(): Promise<void> {
  const fault = await findNewer();
  if (!fault) return;
  throw new EnvError(
    `This version can't be started on this database: ${fault}. Nothing was changed. Start the newer version, or restore a ` +
      "backup from before the upgrade.",
  );
}
