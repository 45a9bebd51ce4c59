import { cp, mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { migrate } from "#lib/db/migrate";
import { distribute, planDistribution } from "#lib/db/sql/distribute";
import { tenantTables } from "#lib/db/tenant-tables";
import { installQueues } from "#lib/queue/queues";
import { dropDatabase, makeClusterDatabase } from "../support/nodes.ts";
import { killNode, type Node, startNode } from "./cluster.ts";

const name = "test_upgrade";
const nodes = inject("nodes");
/** One of the nodes, where they were started for these tests. */
const node: Node | undefined = process.env.SPOOR_KILLABLE_NODE && JSON.parse(process.env.SPOOR_KILLABLE_NODE);
/** The last migration of a schema that could be distributed first. */
const lastOfFirst = "20261122160000_account_deletion";
const userId = "00000000-0000-4000-8000-000000000001";

let url: string;
let client: pg.Client;
beforeAll(async () => {
  [url] = await makeClusterDatabase(nodes, name);
  client = new pg.Client({ connectionString: url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  for (const node of nodes) await dropDatabase(node, name);
});

async function migrateToFirst(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "spoor-migrations-"));
  const names = (await readdir("prisma/migrations")).filter((one) => /^\d/.test(one) && one <= lastOfFirst);
  for (const one of names) await cp(join("prisma/migrations", one), join(folder, one), { recursive: true });
  await migrate(url, () => installQueues(url), folder);
}

/** As `distribute` did then, but interrupted before it had removed the rows that it moved. */
async function distributeFirst(): Promise<string[]> {
  const { rows } = await client.query<{ table: string; keys: string[] | null }>(
    `select relname as table, (select array_agg(conname::text) from pg_constraint
       where conrelid = class.oid and confrelid = 'public.user'::regclass) as keys
     from unnest($1::text[]) with ordinality as given (name, place) join pg_class class on class.oid = to_regclass(name)
     order by place`,
    [[...tenantTables]],
  );
  for (const { table, keys } of rows) {
    for (const key of keys ?? []) await client.query(`alter table ${table} drop constraint ${key}`);
    await client.query(`select create_distributed_table('${table}', 'user_id')`);
  }
  return rows.map(({ table }) => table);
}

test("migrations change tables on the nodes, and those they add are distributed with the next start", async () => {
  await migrateToFirst();
  await client.query(`insert into "user" (id, name, email) values ($1, 'Ada', 'ada@example.org')`, [userId]);
  await client.query(
    `insert into trace (user_id, id, source, source_id, title, message_count, token_count, content_hash, upload_sequence, activity_at)
     values ($1, gen_random_uuid(), 'test', 'kept', 'kept', 0, 0, '', 0, now())`,
    [userId],
  );
  const first = await distributeFirst();
  expect(first.length).toBe(9);
  expect(await planDistribution(url)).toMatchObject({
    remaining: ["trace"],
    problems: [expect.stringContaining("migrations are pending")],
  });

  await migrate(url, () => installQueues(url));
  const after = await planDistribution(url);
  expect(after).toMatchObject({ nodes: nodes.length - 1, waiting: [], remaining: [], problems: [] });
  expect(after.distributed.toSorted()).toEqual([...tenantTables].sort());
  const { rows } = await client.query("select source_id from trace where user_id = $1", [userId]);
  expect(rows).toEqual([{ source_id: "kept" }]);
});

test("a node that does not answer is told before anything is changed", async ({ skip }) => {
  if (!node) return skip("the nodes are not of these tests");
  await killNode(node);
  try {
    await vi.waitFor(async () => {
      const { problems } = await planDistribution(url);
      expect(problems).toEqual([expect.stringMatching(/^Of the node 127\.0\.0\.1:\d+ there is no answer: /)]);
      await expect(distribute(url, () => {})).rejects.toThrow("Nothing was changed");
    }, 30_000);
  } finally {
    // Its processes end when they notice that the first one is gone.
    await vi.waitFor(() => startNode(node), { timeout: 30_000, interval: 500 });
  }
  expect((await planDistribution(url)).problems).toEqual([]);
});
