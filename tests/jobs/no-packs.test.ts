import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { hasColumn, next, provideNext } from "./next-migration.ts";

const { write, apply } = await provideNext();
const migrations = ["20261128130000_no_packs", "20261128130100_no_packed_traces"];
const objects = async () => {
  const { rows } = await pool().query<{ name: string }>(
    `select relname as name from pg_class where relname in ('message_pack', 'trace_unpacked')
     union select conname from pg_constraint where conname = 'trace_packed_check' order by 1`,
  );
  return rows.map(({ name }) => name);
};

/** As unreleased versions made the database. */
async function makeUnreleased(): Promise<void> {
  await write("select 1");
  await pool().query("delete from _prisma_migrations where migration_name = any($1)", [[...migrations, next]]);
  await pool().query(`
    create table message_pack (user_id uuid references "user" (id) on delete cascade, trace_id uuid, first_position int,
      last_position int, messages int, bytes int, body bytea, primary key (user_id, trace_id, first_position));
    alter table trace add column packed_at timestamptz(3);
    create index trace_unpacked on trace (user_id, stored_at) where packed_at is null and deleted_at is null;
    alter table trace add constraint trace_packed_check check (packed_at is null or packed_at >= stored_at) not valid`);
}

test("packed sessions stop the migration, which changes nothing; without any, all that they needed goes", async () => {
  await makeUnreleased();
  const user = "00000000-0000-4000-8000-000000000001";
  await pool().query(`insert into "user" (id, name, email) values ($1, 'Ada', 'ada@example.org')`, [user]);
  await pool().query("insert into message_pack values ($1, gen_random_uuid(), 0, 9, 10, 100, '\\x00')", [user]);
  await expect(apply()).rejects.toThrow(/no_packs failed: message_pack holds messages .* Nothing was changed\. Export/);
  expect(await objects()).toEqual(["message_pack", "trace_packed_check", "trace_unpacked"]);
  expect((await pool().query("select body from message_pack")).rowCount).toBe(1);
  expect(await hasColumn("packed_at")).toBe(true);
  await pool().query("delete from message_pack");
  expect(await apply()).toEqual([...migrations, next]);
  expect(await objects()).toEqual([]);
  expect(await hasColumn("packed_at")).toBe(false);
});
