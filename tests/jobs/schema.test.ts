import { readFile } from "node:fs/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { pool } from "#lib/db/client";
import { migrate, pendingMigrations, schemaScript } from "#lib/db/migrate";
import { installQueues } from "#lib/queue/queues";
import { freshDatabase } from "../support/database.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

/** What the schema language cannot say, and the migrations therefore add by hand. */
const byHand = [
  "user_one_owner",
  "ingest_job_open",
  "trace_usage_due",
  "trace_search_pending",
  "trace_to_purge",
  "trace_search_purge",
  "trace_list",
  "search_document_parted",
  "diagnostic_day_key",
  "diagnostic_machine_key",
  "telemetry_device_key",
];

async function catalog(client: pg.Client | pg.Pool) {
  const { rows: columns } = await client.query(
    `select table_name, column_name, udt_name, is_nullable, column_default, datetime_precision
     from information_schema.columns where table_schema = 'public' and table_name <> '_prisma_migrations'
     order by table_name, column_name`,
  );
  const { rows: indexes } = await client.query(
    `select indexdef from pg_indexes where schemaname = 'public' and tablename <> '_prisma_migrations'
       and indexname <> all($1) order by indexdef`,
    [byHand],
  );
  const { rows: keys } = await client.query(
    `select conrelid::regclass::text as table, pg_get_constraintdef(oid) as key from pg_constraint
     where connamespace = 'public'::regnamespace and contype = 'f' order by 1, 2`,
  );
  return { columns, indexes, keys };
}

describe("the migrations", () => {
  test("make the very tables of schema.prisma", async () => {
    const server = new pg.Client({ connectionString: inject("postgresUrl") });
    await server.connect();
    await server.query("create database from_schema");
    const url = new URL(database.url);
    url.pathname = "from_schema";
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      await client.query(await schemaScript(url.href));
      const wanted = await catalog(client);
      expect(wanted.columns.length).toBeGreaterThan(80);
      expect(await catalog(pool())).toEqual(wanted);
    } finally {
      await client.end();
      await server.query("drop database from_schema with (force)");
      await server.end();
    }
  });

  test("are recorded as Prisma records them, and are applied once", async () => {
    const { rows } = await pool().query("select migration_name, checksum, finished_at from _prisma_migrations");
    const sql = await readFile(`prisma/migrations/${rows[0].migration_name}/migration.sql`);
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", sql)).toString("hex");
    expect(rows[0]).toMatchObject({ checksum: digest, finished_at: expect.any(Date) });
    expect(await migrate(database.url, () => installQueues(database.url))).toEqual([]);
    expect(await pendingMigrations(pool())).toEqual([]);
  });

  test("wait for each other, so that processes started at once all succeed", async () => {
    const runs = Array.from({ length: 3 }, () => migrate(database.url, () => installQueues(database.url)));
    expect(await Promise.all(runs)).toEqual([[], [], []]);
  });
});

/** Tables that are not one user's: looked up before the user is known, or the server's own. */
const referenceTables: Record<string, string> = {
  user: "is the user",
  session: "better-auth looks it up by its token",
  account: "better-auth looks it up by provider",
  invitation: "found by its token, before anybody is known",
  two_factor: "better-auth looks it up by its own id",
  verification: "better-auth's, before there is a user",
  server_setting: "the server's own",
  process_heartbeat: "the server's own",
  rate_limit: "keyed by address as well",
  shared_count: "the server's own",
  cli_token: "looked up by its hash, which says whose it is",
  device_login: "looked up by its codes, before there is a user",
  trace_share: "found by its token, before anybody is known",
  telemetry_report: "may be anonymous",
  diagnostic: "part of a telemetry report",
  client_event: "part of a telemetry report",
  forward_outbox: "part of a telemetry report",
  diagnostic_day: "counts anonymous telemetry as well",
  diagnostic_machine: "counts anonymous telemetry as well",
  telemetry_device: "may be anonymous",
  _prisma_migrations: "Prisma's own",
};

test("every key of a tenant table begins with the owner's id", async () => {
  const { rows } = await pool().query<{ table: string; name: string; first: string }>(
    `select class.relname as table, conname as name, attname as first
     from pg_constraint join pg_class class on class.oid = conrelid
     join pg_attribute on attrelid = conrelid and attnum = conkey[1]
     where connamespace = 'public'::regnamespace and contype in ('p', 'u', 'f')
     union
     select class.relname, index.relname, attname from pg_index
     join pg_class class on class.oid = indrelid join pg_class index on index.oid = indexrelid
     join pg_attribute on attrelid = indrelid and attnum = indkey[0]
     where indisunique and class.relnamespace = 'public'::regnamespace`,
  );
  const tenant = rows.filter(({ table }) => !(table in referenceTables));
  expect(new Set(tenant.map(({ table }) => table))).toEqual(
    new Set([
      "audit_event",
      "ingest_job",
      "message",
      "search_block",
      "search_bucket",
      "search_document",
      "trace",
      "trace_usage",
      "upload",
      "usage_facets",
    ]),
  );
  expect(tenant.filter(({ first }) => first !== "user_id")).toEqual([]);
});
