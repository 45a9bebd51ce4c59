// A migration to come, in a copy of the migrations' folder.
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach } from "vitest";
import { pool } from "#lib/db/client";
import { migrate } from "#lib/db/migrate";
import { freshDatabase } from "../support/database.ts";

export const next = "99990101000000_next";

export const hasColumn = async (name: string) => {
  const { rowCount } = await pool().query("select 1 from information_schema.columns where column_name = $1", [name]);
  return rowCount === 1;
};

/** Provides a database of its own, and an empty migration before each test. */
export async function provideNext() {
  const database = await freshDatabase();
  afterAll(() => database.drop());
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "spoor-migrations-"));
    await cp("prisma/migrations", folder, { recursive: true });
    await mkdir(join(folder, next));
    return () => rm(folder, { recursive: true });
  });
  const write = (sql: string) => writeFile(join(folder, next, "migration.sql"), sql);
  const apply = (url = database.url) => migrate(url, async () => {}, folder);
  return { database, getFolder: () => folder, write, apply };
}
