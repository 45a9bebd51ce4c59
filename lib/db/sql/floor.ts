import "server-only";
import { EnvError, isSchemaError } from "#lib/core/errors";
import { pool } from "#lib/db/client";

/**
 * Raised by a release that stores data which the previous one can't read. A migration records it, and older releases
 * then refuse to start.
 */
export const generation = 1;

/** SQL: also asked before a migration. @returns why this version can't use the database */
export async function findNewer(): Promise<string | undefined> {
  const { rows } = await pool()
    .query<{ value: string }>("select value from server_setting where key = 'generation'")
    .catch((error) => {
      if (isSchemaError(error)) return { rows: [] };
      throw error;
    });
  const floor = Number(rows[0]?.value ?? 0);
  if (floor <= generation) return undefined;
  return `a newer version of Spoor has stored what this one can't read (generation ${floor}, this one reads ${generation})`;
}

/** @throws EnvError if a newer version has stored what this one can't read */
export async function refuseNewer(): Promise<void> {
  const fault = await findNewer();
  if (!fault) return;
  throw new EnvError(
    `This version can't be started on this database: ${fault}. Nothing was changed. Start the newer version, or restore a ` +
      "backup from before the upgrade.",
  );
}
