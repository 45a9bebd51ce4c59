import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { closeDatabase, pool } from "#lib/db/client";
import { setEnv } from "#lib/env";
import { dropDatabase, run, urlOf } from "./nodes.ts";
import { templateName } from "./postgres.ts";

/** The default environment of every test's process and server. */
export const testEnvironment = {
  AUTH_SECRET: "a secret for tests only, 32 characters and more",
  AUTH_RATE_LIMIT: "off",
  LOG_LEVEL: "fatal",
  TRUSTED_PROXIES: "127.0.0.1",
};

/**
 * A separate database for a test file, cloned from the migrated template. Sets this process's environment to it, so that
 * `lib` can be called directly.
 */
export async function freshDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const nodes = inject("nodes");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const onAll = (work: (node: string) => Promise<void>) => Promise.all(nodes.map(work));
  await onAll((node) => run(node, `create database ${name} template ${templateName} strategy file_copy`));
  const url = urlOf(nodes[0] ?? "", name);
  await switchDatabase({ ...testEnvironment, DATABASE_URL: url });
  return {
    url,
    drop: async () => {
      await closeDatabase();
      await onAll((node) => dropDatabase(node, name));
    },
  };
}

/** Lets this process use the database of an environment, and forgets the one before. */
export async function switchDatabase(environment: Record<string, string>): Promise<void> {
  await closeDatabase(); // of the file before: its timers may have opened it once more
  setEnv(environment);
}

/** Empties every table but those that tell which migrations were applied and which processes run. */
export async function emptyDatabase(): Promise<void> {
  const { rows } = await pool().query<{ tables: string }>(
    `select string_agg(format('%I.%I', schemaname, tablename), ', ') as tables from pg_tables
     where schemaname = 'public' and tablename not in ('_prisma_migrations', 'process_heartbeat')`,
  );
  // Plans for what the tables held before could take minutes with what they will hold. Ids below 16384 are the system's tables.
  const forget = "delete from pg_statistic where starelid >= 16384";
  const empty = () => pool().query(`delete from pgboss.job; truncate ${rows[0]?.tables} cascade; ${forget}`);
  // A worker may hold a lock of a table and wait for another's: once more, since it gives up too.
  await empty().catch(empty).catch(empty);
}
