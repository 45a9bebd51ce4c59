import { readdir, readFile } from "node:fs/promises";
import { loadModule, parseSync } from "libpg-query";
import { expect, test } from "vitest";
import { splitStatements } from "#lib/db/migrate";
import { tenantTables } from "#lib/db/tenant-tables";

await loadModule();

/** What a process of the former version would fail at while the migration is applied beside it, or afterwards. */
const breaking: [what: string, pattern: RegExp][] = [
  [
    "drops what the former version uses",
    /\bdrop\s+(?!index\b|not\s+null\b|constraint\s+"?\w+_fkey|(?:table|column)\s+if\s+exists\b)\w+/i,
  ],
  ["renames", /\brename\b(?!\s+constraint\s+"?\w+_fkey)/i], // no statement names a foreign key
  ["changes a type", /\balter\s+column\s+\S+\s+(?:set\s+data\s+)?type\b/i],
  ["refuses what the former version writes", /\balter\s+column\s+\S+\s+set\s+not\s+null\b/i],
  [
    "adds a column that the former version does not write",
    /\badd\s+column\b(?=[^;,]*\bnot\s+null\b)(?![^;,]*\bdefault\b)/i,
  ],
  ["removes rows", /\b(?:truncate|delete\s+from)\b/i],
  ["can't run in a transaction", /\bconcurrently\b|\bvacuum\b/i],
];

const findBreaking = (sql: string) =>
  breaking.filter(([, pattern]) => pattern.test(sql.replaceAll(/--.*$/gm, ""))).map(([what]) => what);

const names = (await readdir("prisma/migrations")).filter((name) => /^\d/.test(name));

test.each(names)(
  "the migration %s only adds, so that processes of the former version go on beside it",
  async (name) => {
    expect(findBreaking(await readFile(`prisma/migrations/${name}/migration.sql`, "utf8"))).toEqual([]);
  },
);

test("what is dropped if it exists is made by no migration: only an unreleased version had it", async () => {
  const scripts = await Promise.all(names.map((name) => readFile(`prisma/migrations/${name}/migration.sql`, "utf8")));
  const all = scripts.join("\n");
  const dropped = [...all.matchAll(/drop\s+(?:table|column)\s+if\s+exists\s+"(\w+)"/gi)].map(([, name = ""]) => name);
  expect(dropped).toEqual(["message_pack", "packed_at"]);
  for (const name of dropped) expect(all).not.toMatch(new RegExp(`(?:create table|add column) "?${name}\\b`, "i"));
});

test.each([
  [`ALTER TABLE "trace" DROP COLUMN "model";`, 1],
  [`DROP TABLE "upload";`, 1],
  [`DROP TABLE IF EXISTS "message_pack";`, 0],
  [`ALTER TABLE "trace" DROP CONSTRAINT "trace_pkey";`, 1],
  [`ALTER TABLE "trace" DROP CONSTRAINT "trace_user_id_fkey";`, 0],
  [`ALTER TABLE "trace" RENAME CONSTRAINT "a_fkey" TO "b_fkey";`, 0],
  [`ALTER TABLE "trace" RENAME COLUMN "a" TO "b";`, 1],
  [`ALTER TABLE "trace" ALTER COLUMN "a" SET DATA TYPE TEXT;`, 1],
  [`ALTER TABLE "trace" ALTER COLUMN "a" SET NOT NULL;`, 1],
  [`ALTER TABLE "trace" ADD COLUMN "a" TEXT NOT NULL;`, 1],
  [`ALTER TABLE "trace" ADD COLUMN "a" TEXT NOT NULL DEFAULT '';`, 0],
  [`DROP INDEX "trace_list"; -- drop table`, 0],
  [`CREATE INDEX CONCURRENTLY "a" ON "trace"("id");`, 1],
])("%s is recognised", (sql, found) => {
  expect(findBreaking(sql).length).toBe(found);
});

const getKinds = (sql: string) => (parseSync(sql).stmts ?? []).map(({ stmt }) => Object.keys(stmt ?? {}));

test.each(names)("the statements of %s are those that PostgreSQL's own parser finds", async (name) => {
  const script = await readFile(`prisma/migrations/${name}/migration.sql`, "utf8");
  const statements = splitStatements(script);
  expect(statements.map(getKinds)).toEqual(getKinds(script).map((kind) => [kind]));
});

/** The foreign keys between a table of users' rows that is new, and one that is not: on a cluster that one is on the nodes already. */
function findSplitKeys(script: string): string[] {
  const isTenant = (name: string) => (tenantTables as readonly string[]).includes(name);
  const created = new Set<string>();
  const keys: [from: string, to: string][] = [];
  for (const { stmt } of parseSync(script).stmts ?? []) {
    const { CreateStmt: create, AlterTableStmt: alter } = stmt as Record<string, { relation: { relname: string } }>;
    if (create) created.add(create.relation.relname);
    const from = (create ?? alter)?.relation.relname;
    for (const [, to = ""] of JSON.stringify(stmt).matchAll(/"pktable":\{[^}]*"relname":"(\w+)"/g))
      if (from && isTenant(to)) keys.push([from, to]);
  }
  return keys.filter(([from, to]) => created.has(from) !== created.has(to)).map((key) => key.join(" to "));
}

/** No schema before this one could be distributed. */
const firstDistributed = "20261122160000_account_deletion";
const afterIt = names.filter((name) => name > firstDistributed);

test.each(afterIt)("the migration %s can be applied to a distributed database", async (name) => {
  expect(findSplitKeys(await readFile(`prisma/migrations/${name}/migration.sql`, "utf8"))).toEqual([]);
});

const newTable = `CREATE TABLE "note" ("user_id" UUID NOT NULL, "trace_id" UUID NOT NULL);`;
test.each([
  [`${newTable} ALTER TABLE "note" ADD FOREIGN KEY ("user_id") REFERENCES "user"("id");`, []],
  [
    `${newTable} ALTER TABLE "note" ADD FOREIGN KEY ("user_id", "trace_id") REFERENCES "trace"("user_id", "id");`,
    ["note to trace"],
  ],
  [
    `create table note (user_id uuid, id uuid, foreign key (user_id, id) references trace (user_id, id))`,
    ["note to trace"],
  ],
  [`alter table upload add foreign key (user_id, held_by) references upload (user_id, job_id)`, []],
])("of %s the keys %j are refused", (script, keys) => {
  expect(findSplitKeys(script)).toEqual(keys);
});

test.each([
  ["", []],
  [" -- nothing; at all\n/* nor; here */ ;; ", []],
  ["select 1; select 2;", ["select 1", "select 2"]],
  ["select 1 -- one; still\n;select 2", ["select 1 -- one; still", "select 2"]],
  [
    "select 'a;''b;' || e'c\\';d' || \"e;\"\"f\"; select 2",
    ["select 'a;''b;' || e'c\\';d' || \"e;\"\"f\"", "select 2"],
  ],
  [
    "do $$ begin; end $$; do $x$ a; $$; b; $x$; select $1",
    ["do $$ begin; end $$", "do $x$ a; $$; b; $x$", "select $1"],
  ],
  ["select some'a\\'; select 2", ["select some'a\\'", "select 2"]],
])("%j is %j", (script, statements) => {
  expect(splitStatements(script)).toEqual(statements);
});
