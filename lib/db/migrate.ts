import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { EnvError } from "#lib/core/errors";
import { pendingMigrations } from "#lib/db/migrations";
import { withRequiredAuth } from "#lib/db/required-auth";
import { distributeAdded } from "#lib/db/sql/distribute";
import { withMigrationLock } from "#lib/db/sql/migration-lock";

const ownFolder = resolve("prisma/migrations");
/**
 * Other statements queue behind one that waits for a lock. Below `deadlock_timeout` (1 s), the migration gives up
 * first.
 */
const lockTimeout = "300ms";
const lockPatienceMs = 60_000;
const lockPauseMs = 500;
/** lock timeout, deadlock */
const lockCodes = ["55P03", "40P01"];

/** Ends a killed process's statement, with its locks, within a second, if the server's system can detect its end. */
const endWithProcess = `do $$ begin set local client_connection_check_interval = '1s'; exception when others then null; end $$`;

/** As Prisma's schema engine creates it. */
const createRecords = `create table if not exists _prisma_migrations (
  id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz,
  migration_name varchar(255) not null, logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0)`;

/**
 * Processes take turns. A migration is one transaction, retried for a minute if it does not get its locks.
 * @returns the names of the migrations applied
 * @throws EnvError with PostgreSQL's message
 */
export function migrate(databaseUrl: string, after: () => Promise<void>, folder = ownFolder): Promise<string[]> {
  return withMigrationLock(databaseUrl, () => applyPending(databaseUrl, after, folder));
}

async function applyPending(databaseUrl: string, after: () => Promise<void>, folder: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: withRequiredAuth(databaseUrl), application_name: "spoor-migrate" });
  client.on("error", () => {}); // the next statement fails as well
  await client.connect();
  try {
    const pending = await findPending(client, folder);
    const deadline = performance.now() + lockPatienceMs;
    for (const name of pending) await applyMigration(client, folder, name, deadline);
    await distributeAdded(client);
    await after();
    return pending;
  } finally {
    await client.end();
  }
}

/** @throws EnvError for a foreign database (P3005) or a failed migration (P3009) */
async function findPending(client: pg.Client, folder: string): Promise<string[]> {
  const { rowCount: otherTables } = await client.query(
    "select 1 from pg_tables where schemaname = current_schema() and to_regclass('_prisma_migrations') is null limit 1",
  );
  if (otherTables) throw new EnvError("The database has tables that are not Spoor's (P3005). Use an empty one.");
  await client.query(createRecords);
  const { rows } = await client.query<{ name: string }>(
    "select migration_name as name from _prisma_migrations where finished_at is null and rolled_back_at is null",
  );
  const [failed] = rows;
  if (!failed) return pendingMigrations(client, readdir(folder, { withFileTypes: true }));
  throw new EnvError(
    `The migration ${failed.name} is recorded as failed (P3009) and may be partly applied. Undo what it changed, then mark ` +
      `it as rolled back: update _prisma_migrations set rolled_back_at = now() where migration_name = '${failed.name}';`,
  );
}

async function applyMigration(client: pg.Client, folder: string, name: string, deadline: number): Promise<void> {
  const script = await readFile(join(folder, name, "migration.sql"), "utf8");
  const record = [randomUUID(), createHash("sha256").update(script).digest("hex"), name];
  for (;;) {
    try {
      await client.query(`begin; set local lock_timeout = '${lockTimeout}'; set local synchronous_commit = off`);
      await client.query(endWithProcess);
      // Citus sends its nodes a statement's whole text, and they take one statement at a time.
      for (const statement of splitStatements(script)) await client.query(statement);
      await client.query(
        `insert into _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
         values ($1, $2, $3, clock_timestamp(), 1)`,
        record,
      );
      await client.query("commit");
      return;
    } catch (error) {
      const { code, message } = error as pg.DatabaseError;
      const fail = () => Promise.reject(new EnvError(`${name} failed: ${message}`, { cause: error }));
      await client.query("rollback").catch(fail); // if the connection is gone, PostgreSQL has rolled back
      if (!lockCodes.includes(code ?? "") || performance.now() > deadline) {
        const failure = `insert into _prisma_migrations (id, checksum, migration_name, logs, rolled_back_at)
          values ($1, $2, $3, $4, now())`;
        await client.query(failure, [...record, message]).finally(fail);
      }
      await sleep(lockPauseMs);
    }
  }
}

/** A semicolon inside these ends no statement (PostgreSQL 18, section 4.1). Nested comments are not supported. */
const opaque = String.raw`\b[eE]'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[^]*?\$\1\$|--[^\n]*|\/\*[^]*?\*\/`;

/** Splits a script into statements, without their semicolons. */
export function splitStatements(script: string): string[] {
  const statements: string[] = [];
  let begin = 0;
  let isEmpty = true;
  const end = (at: number) => {
    if (!isEmpty) statements.push(script.slice(begin, at).trim());
    begin = at + 1;
    isEmpty = true;
  };
  for (const { 0: token, index } of script.matchAll(new RegExp(`${opaque}|;|[^]`, "g"))) {
    if (token === ";") end(index);
    else if (!/^(?:\s|--|\/\*)/.test(token)) isEmpty = false;
  }
  end(script.length);
  return statements;
}
