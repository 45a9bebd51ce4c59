import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { pool } from "#lib/db/client";
import { migrate } from "#lib/db/migrate";
import { pendingMigrations } from "#lib/db/migrations";
import { distribute, planDistribution } from "#lib/db/sql/distribute";
import { tenantTables } from "#lib/db/tenant-tables";
import { installQueues } from "#lib/queue/queues";
import { freshDatabase } from "../support/database.ts";
import { isDistributed, needsOneServer } from "../support/nodes.ts";
import { schemaScript } from "../support/schema-engine.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

/** Every object of a database but Prisma's own table, with its definition. */
async function readObjects(client: pg.Client | pg.Pool): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select format('column %s.%s', table_name, column_name) as name,
            concat_ws(' ', udt_name, is_nullable, column_default, datetime_precision) as definition
     from information_schema.columns where table_schema = 'public' and table_name <> '_prisma_migrations'
     union all
     select 'index ' || indexname, indexdef from pg_indexes
     where schemaname = 'public' and tablename <> '_prisma_migrations'
     union all
     select 'constraint ' || conname, conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
     where connamespace = 'public'::regnamespace and contype in ('f', 'c')
     union all
     select 'trigger ' || tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
     union all
     select 'function ' || proname, prosrc from pg_proc where pronamespace = 'public'::regnamespace
     union all
     select 'unlogged ' || relname, '' from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and relpersistence = 'u'
     union all
     select format('external %s.%s', relname, attname), '' from pg_attribute
     join pg_class class on class.oid = attrelid join pg_type type on type.oid = atttypid
     where relnamespace = 'public'::regnamespace and relkind = 'r' and attstorage = 'e' and typstorage <> 'e'`,
  );
  return new Map(rows.map(({ name, definition }) => [name, definition]));
}

/** What the schema language has no words for; the migrations create it, and a comment in schema.prisma names it. */
const byHand = [
  "constraint device_login_status_check",
  "constraint ingest_job_status_check",
  "constraint user_role_check",
  "external original.head",
  "external original_part.body",
  "external picture.body",
  "external search_bucket.postings",
  "external upload.body",
  "external upload.manifest",
  "function refuse_audit_change",
  "index diagnostic_day_key",
  "index diagnostic_machine_key",
  "index telemetry_device_key",
  "index trace_commit_hash",
  "index trace_list",
  "index trace_roots",
  "trigger audit_event_append_only",
  "unlogged rate_limit",
];

describe("the migrations", () => {
  const itsObjects = needsOneServer("the catalog has the extension's views, and no foreign keys to the coordinator");
  test.skipIf(itsObjects)("create the database of schema.prisma: every table, column, index and relation", async () => {
    const server = new pg.Client({ connectionString: inject("postgresUrl") });
    await server.connect();
    await server.query("create database from_schema");
    const url = new URL(database.url);
    url.pathname = "from_schema";
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      await client.query(await schemaScript(url.href));
      const described = await readObjects(client);
      expect(described.size).toBeGreaterThan(300);
      const migrated = await readObjects(pool());
      const beyond = [...migrated.keys()].filter((name) => !described.has(name));
      expect(beyond.sort()).toEqual(byHand);
      for (const name of beyond) migrated.delete(name);
      expect(migrated).toEqual(described);
    } finally {
      await client.end();
      await server.query("drop database from_schema with (force)");
      await server.end();
    }
  });

  test("create nothing that schema.prisma does not name", async () => {
    const schema = await readFile("prisma/schema.prisma", "utf8");
    const names = byHand.filter((name) => /^(constraint|index|trigger|function)/.test(name));
    for (const name of names) expect(schema).toContain(`\`${name.split(" ")[1]}\``);
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
  agent_grant: "names a cli_token, and is found by what an agent sends",
  device_login: "looked up by its codes, before there is a user",
  trace_share: "found by its token, before anybody is known",
  telemetry_report: "may be anonymous",
  diagnostic: "part of a telemetry report",
  client_event: "part of a telemetry report",
  forward_outbox: "part of a telemetry report",
  diagnostic_day: "counts anonymous telemetry as well",
  diagnostic_machine: "counts anonymous telemetry as well",
  telemetry_device: "may be anonymous",
  object_removal: "names objects of accounts that are gone",
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
  expect(new Set(tenant.map(({ table }) => table))).toEqual(new Set(["audit_event", ...tenantTables]));
  expect(tenant.filter(({ first }) => first !== "user_id")).toEqual([]);
});

test("no foreign key follows a change of an id, which a distributed database refuses", async () => {
  const { rows } = await pool().query(
    `select conname, confupdtype from pg_constraint
     where connamespace = 'public'::regnamespace and contype = 'f' and (confupdtype <> 'a' or not convalidated)`,
  );
  expect(rows).toEqual([]);
});

test("a foreign key between tenant tables is one of the same user", async () => {
  const { rows } = await pool().query<{ from: string; to: string; first: string }>(
    `select conrelid::regclass::text as from, confrelid::regclass::text as to, attname as first from pg_constraint
     join pg_attribute on attrelid = confrelid and attnum = confkey[1]
     where connamespace = 'public'::regnamespace and contype = 'f'`,
  );
  const between = rows.filter(
    ({ from, to }) => ![from, to].some((table) => table.replaceAll('"', "") in referenceTables),
  );
  expect(between.length).toBeGreaterThan(4);
  expect(between.filter(({ first }) => first !== "user_id")).toEqual([]);
});

test("the tables can be distributed as they are; without the extension `npm run distribute` changes nothing and says so", async () => {
  const { problems, waiting } = await planDistribution(database.url);
  expect(problems).toEqual(isDistributed ? [] : [expect.stringContaining("create extension citus")]);
  expect(waiting).toEqual(isDistributed ? [] : [...tenantTables]);
  if (isDistributed) return;
  await expect(distribute(database.url, () => {})).rejects.toThrow("Nothing was changed");
  const keys = await pool().query(`select 1 from pg_constraint where confrelid = 'public.user'::regclass`);
  expect(keys.rowCount).toBeGreaterThan(10);
});

test("npm run distribute -- --check tells it all, and ends with 1 where something would fail", async () => {
  const words = ["--conditions=react-server", "server/commands/distribute.ts"];
  const run = (...more: string[]) =>
    promisify(execFile)(process.execPath, [...words, ...more]).catch(
      (error: { code: number; stderr: string }) => error,
    );
  const found = await run("--check");
  if (isDistributed) expect(found).toMatchObject({ stdout: expect.stringContaining("Nothing would fail.") });
  else expect(found).toMatchObject({ code: 1, stderr: expect.stringContaining("`create extension citus`") });
  expect(await run("--chek")).toMatchObject({ code: 2, stderr: expect.stringContaining("Usage: npm run distribute") });
});

const itsTables = needsOneServer("its tables can be given neither such keys nor such triggers any more");
test.skipIf(itsTables)("what could not be distributed is told, each with its name", async () => {
  await pool().query(`create trigger watching before insert on finding for each row execute function refuse_audit_change();
    create unique index finding_mark on finding (mark);
    alter table trace_share add constraint shared foreign key (user_id, trace_id) references trace (user_id, id)`);
  const { problems } = await planDistribution(database.url);
  expect(problems.slice(0, -1).toSorted()).toEqual([
    "finding: the key finding_mark does not begin with user_id.",
    "finding: the trigger watching; tables on nodes have none.",
    "trace_share: the foreign key shared refers to trace, which is to be on the nodes.",
  ]);
});
