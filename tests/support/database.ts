import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import { setEnv } from "#lib/core/env";
import { postgresCode } from "#lib/core/errors";
import { closeDatabase, pool } from "#lib/db/client";
import { dropDatabase, isDistributed, makeUrl, run } from "./nodes.ts";
import { templateName } from "./postgres.ts";

/** The default environment of test processes and servers. */
export const testEnvironment = {
  AUTH_SECRET: "a secret for tests only, 32 characters and more",
  AUTH_RATE_LIMIT: "off",
  LOG_LEVEL: "fatal",
  TRUSTED_PROXIES: "127.0.0.1",
};

/**
 * Creates a database for a test file, cloned from the migrated template, and sets this process's environment, so that
 * `lib` can be called directly.
 */
export async function freshDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const nodes = inject("nodes");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const onAll = (work: (node: string) => Promise<void>) => Promise.all(nodes.map(work));
  await onAll((node) => run(node, `create database ${name} template ${templateName} strategy file_copy`));
  const url = makeUrl(nodes[0] ?? "", name);
  await switchDatabase({ ...testEnvironment, DATABASE_URL: url });
  return {
    url,
    drop: async () => {
      await closeDatabase();
      await onAll((node) => dropDatabase(node, name));
    },
  };
}

/** Makes this process use the database of an environment instead of the previous one. */
export async function switchDatabase(environment: Record<string, string>): Promise<void> {
  setEnv(environment); // first, since timers of the previous file may open it again
  await closeDatabase();
}

/**
 * Empties tables in a tenth of the time of TRUNCATE, which creates a new file for each table and index; most tables are
 * empty.
 */
const emptying = (tables: string) => `
  do $$ declare one record; large text; begin
    lock table ${tables} in access exclusive mode;
    set local session_replication_role = replica; -- a row that is referred to goes before those that refer to it
    for one in select place::text as name, pg_table_size(place) > 131072 as is_large
      from unnest(array['${tables.split(", ").join("', '")}']::regclass[]) as place where pg_relation_size(place) > 0 loop
      if one.is_large then large := concat_ws(', ', large, one.name);
      else execute 'delete from ' || one.name; end if;
    end loop;
    if large is not null then execute 'truncate ' || large || ' cascade'; end if;
  end $$`;

/** Empties every table except those of migrations and running processes. */
export async function emptyDatabase(): Promise<void> {
  const { rows } = await pool().query<{ tables: string }>(
    `select string_agg(format('%I.%I', schemaname, tablename), ', ') as tables from pg_tables
     where schemaname = 'public' and tablename not in ('_prisma_migrations', 'process_heartbeat')`,
  );
  // Plans by the statistics of previous rows could take minutes. Ids below 16384 belong to system tables.
  const forget = "delete from pg_statistic where starelid >= 16384";
  const tables = rows[0]?.tables ?? "";
  const remove = isDistributed ? `truncate ${tables} cascade` : emptying(tables);
  // A worker may have locked one table and wait for another. The timeout releases all locks before PostgreSQL detects
  // a deadlock.
  const empty = `set local lock_timeout = '0.2s'; delete from pgboss.job; ${remove}; ${forget}`;
  for (let left = 100; ; left -= 1) {
    try {
      return void (await pool().query(empty));
    } catch (error) {
      if (postgresCode(error) !== lockNotAvailable || left === 0) throw error;
      await sleep(20);
    }
  }
}

const lockNotAvailable = "55P03";
