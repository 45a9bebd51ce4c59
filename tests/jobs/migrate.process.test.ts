import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { pool } from "#lib/db/client";
import { migrate } from "#lib/db/migrate";
import { pendingMigrations } from "#lib/db/migrations";
import { waitingForLocks } from "../support/meanwhile.ts";
import { deployWithPrisma, diagnoseWithPrisma } from "../support/schema-engine.ts";
import { hasColumn, next, provideNext } from "./next-migration.ts";

const { database, getFolder, write, apply } = await provideNext();
const forget = () => pool().query("delete from _prisma_migrations where migration_name = $1", [next]);

test("a migration that fails is rolled back as a whole, is named, and is applied once its file is corrected", async () => {
  await write(`alter table trace add column whole_a int; alter table trace add column title text;`);
  await expect(apply()).rejects.toThrow(/^99990101000000_next failed: column "title" .* already exists/);
  expect(await hasColumn("whole_a")).toBe(false);
  const { rows } = await pool().query("select * from _prisma_migrations where migration_name = $1", [next]);
  expect(rows).toMatchObject([
    {
      finished_at: null,
      rolled_back_at: expect.any(Date),
      logs: expect.stringContaining("title"),
      applied_steps_count: 0,
    },
  ]);
  expect(await diagnoseWithPrisma(database.url, getFolder())).toMatchObject({ failedMigrationNames: [] });
  await write(
    `alter table trace add column whole_a int; -- one; two\nalter table trace add column whole_b text default ';'`,
  );
  expect(await apply()).toEqual([next]);
  expect([await hasColumn("whole_a"), await hasColumn("whole_b")]).toEqual([true, true]);
  expect(await apply()).toEqual([]);
  expect(await pendingMigrations(pool())).toEqual([]);
  await forget();
});

test("a migration that another tool left as failed stops the start with what to do, until it is marked as rolled back", async () => {
  await write("alter table trace add column failed_a int");
  await pool().query("insert into _prisma_migrations (id, checksum, migration_name) values ($1, '', $2)", [
    randomUUID(),
    next,
  ]);
  expect(await diagnoseWithPrisma(database.url, getFolder())).toMatchObject({ failedMigrationNames: [next] });
  const message = await apply().catch((error: Error) => error.message);
  expect(message).toContain(`The migration ${next} is recorded as failed (P3009)`);
  const [statement = ""] = /update _prisma_migrations .*;/.exec(String(message)) ?? [];
  await pool().query(statement);
  expect(await apply()).toEqual([next]);
  await forget();
});

test("an applied migration whose file was edited stays as it is, as with Prisma", async () => {
  await write("select 1");
  expect(await apply()).toEqual([next]);
  await write("select 2");
  expect(await diagnoseWithPrisma(database.url, getFolder())).toMatchObject({ editedMigrationNames: [next] });
  expect([await apply(), await deployWithPrisma(database.url, getFolder())]).toEqual([[], []]);
  await forget();
});

test("a migration that does not get its locks is rolled back each time, and applied when they are free", async () => {
  await write("alter table trace add column patient_a int; alter table ingest_job add column patient_b int;");
  const job = await pool().connect();
  await job.query("begin");
  await job.query("lock table ingest_job in row exclusive mode");
  const applied = apply();
  try {
    await expect.poll(waitingForLocks, { interval: 10 }).toBe(1);
    // A write waits behind the migration's, until that gives way.
    await pool().query("delete from ingest_job where machine = 'nobody'");
    expect(await hasColumn("patient_a")).toBe(false);
  } finally {
    await job.query("rollback");
    job.release();
  }
  expect(await applied).toEqual([next]);
  expect([await hasColumn("patient_a"), await hasColumn("patient_b")]).toEqual([true, true]);
  await forget();
});

test("a migration that PostgreSQL ends in a deadlock is tried again", async () => {
  await pool().query("create sequence tries"); // which no rollback sets back
  await write(
    `do $$ begin if nextval('tries') < 3 then raise exception 'deadlock detected' using errcode = '40P01'; end if; end $$;
     alter table trace add column after_deadlock int`,
  );
  expect(await apply()).toEqual([next]);
  expect(await hasColumn("after_deadlock")).toBe(true);
  await forget();
});

describe("an empty database", () => {
  const server = new pg.Client({ connectionString: inject("postgresUrl") });
  beforeAll(() => server.connect());
  afterAll(() => server.end());

  const withEmpty = async <T>(work: (url: string) => Promise<T>): Promise<T> => {
    const url = new URL(inject("postgresUrl"));
    url.pathname = `empty_${randomUUID().replaceAll("-", "")}`;
    await server.query(`create database ${url.pathname.slice(1)}`);
    try {
      return await work(url.href);
    } finally {
      await server.query(`drop database ${url.pathname.slice(1)} with (force)`);
    }
  };
  const own = async () => (await readdir("prisma/migrations")).filter((name) => /^\d/.test(name)).sort();
  const migrateOwn = (url: string) => migrate(url, async () => {});

  const query = async (url: string, sql: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  };
  const readRecords = (url: string) =>
    query(
      url,
      `select migration_name, checksum, applied_steps_count, finished_at >= started_at as finished, logs, rolled_back_at,
         length(id) from _prisma_migrations order by migration_name`,
    );
  const readRecordColumns = (url: string) =>
    query(
      url,
      `select column_name, udt_name, character_maximum_length, is_nullable, column_default, ordinal_position
       from information_schema.columns where table_name = '_prisma_migrations' order by 1`,
    );

  test("migrated by Spoor is up to date for Prisma, and the other way round, with the same records", async () => {
    await withEmpty(async (bySpoor) => {
      expect(await migrateOwn(bySpoor)).toEqual(await own());
      expect(await deployWithPrisma(bySpoor)).toEqual([]);
      expect(await diagnoseWithPrisma(bySpoor)).toMatchObject({
        hasMigrationsTable: true,
        history: null,
        failedMigrationNames: [],
        editedMigrationNames: [],
      });
      await withEmpty(async (byPrisma) => {
        expect(await deployWithPrisma(byPrisma)).toEqual(await own());
        expect(await migrateOwn(byPrisma)).toEqual([]);
        expect(await readRecords(bySpoor)).toEqual(await readRecords(byPrisma));
        expect(await readRecordColumns(bySpoor)).toEqual(await readRecordColumns(byPrisma));
      });
    });
  });

  test("is the only one that is migrated: one with foreign tables is refused, as with Prisma", async () => {
    await withEmpty(async (url) => {
      await query(url, "create table theirs (id int)");
      await expect(migrateOwn(url)).rejects.toThrow("P3005");
      await expect(deployWithPrisma(url)).rejects.toMatchObject({ code: "P3005" });
      expect(await query(url, "select tablename from pg_tables where schemaname = 'public'")).toEqual([
        { tablename: "theirs" },
      ]);
    });
  });

  test("is migrated once where several start at the same time, Prisma among them", async () => {
    await withEmpty(async (url) => {
      const applied = await Promise.all([migrateOwn(url), migrateOwn(url), deployWithPrisma(url), migrateOwn(url)]);
      expect(applied.flat()).toEqual(await own());
      expect((await readRecords(url)).length).toBe((await own()).length);
    });
  });

  test("is free for the next start after a migration failed, or its connection was cut", async () => {
    await withEmpty(async (url) => {
      await write("no sql");
      await expect(apply(url)).rejects.toThrow(/^99990101000000_next failed/);
      await write("select pg_sleep(30)");
      const cut = apply(url).catch((error: Error) => error.message);
      await expect
        .poll(async () => {
          const { rowCount } = await server.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(30)'",
          );
          return rowCount;
        })
        .toBe(1);
      expect(await cut).toContain(next);
      await write("select 1");
      expect(await apply(url)).toEqual([next]);
    });
  });

  test("is free seconds after the process that migrated it was killed, however long its statement would take", async () => {
    await withEmpty(async (url) => {
      await write("create table held (id int); select pg_sleep(60)");
      const script = `import { migrate } from "#lib/db/migrate"; await migrate(process.argv[1], async () => {}, process.argv[2]);`;
      const options = ["--conditions=react-server", "--input-type=module", "-e", script, url, getFolder()];
      const migrating = spawn(process.execPath, options, { stdio: "inherit" });
      const sleeping = "select from pg_stat_activity where query = 'select pg_sleep(60)'";
      await expect.poll(async () => (await server.query(sleeping)).rowCount, { timeout: 20_000 }).toBe(1);
      migrating.kill("SIGKILL");
      await write("create table held (id int)");
      const startedAt = performance.now();
      expect(await apply(url)).toEqual([next]);
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    });
  }, 60_000);
});
