import "server-only";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";

/** If the path is in a variable, the build can't see which files a route reads, and packs the whole project. */
const readOwn = () => readdir(join(process.cwd(), "prisma/migrations"), { withFileTypes: true });

export async function pendingMigrations(database: pg.Pool | pg.Client, entries = readOwn()): Promise<string[]> {
  const names = (await entries).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const { rows } = await database.query<{ name: string }>(
    "select migration_name as name from _prisma_migrations where finished_at is not null and rolled_back_at is null",
  );
  const applied = new Set(rows.map((row) => row.name));
  return names.filter((name) => !applied.has(name)).sort();
}
