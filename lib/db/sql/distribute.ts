// Turning a database whose extension can distribute tables into a distributed one (docs/growth.md). SQL: the extension's
// functions and PostgreSQL's catalog.
import "server-only";
import pg from "pg";
import { pendingMigrations } from "#lib/db/migrations";
import { withMigrationLock } from "#lib/db/sql/migration-lock";
import { tenantTables } from "#lib/db/tenant-tables";
import { EnvError } from "#lib/errors";

/** What distributing would do, and what it would fail on. */
export type Plan = { nodes: number; distributed: string[]; waiting: string[]; problems: string[] };

const isTenant = (table: string) => (tenantTables as readonly string[]).includes(table);

/** Tells what `distribute` would do, without changing anything. */
export async function planDistribution(databaseUrl: string): Promise<Plan> {
  return withClient(databaseUrl, readPlan);
}

/**
 * Distributes the tenant tables that are not yet. Their foreign keys to the coordinator's tables are dropped, which no extension
 * allows; writers wait while a table's rows move. A call that was interrupted is continued by the next.
 *
 * @returns the plan as it was before.
 * @throws EnvError with all problems, before anything is changed.
 */
export function distribute(databaseUrl: string, say: (line: string) => void): Promise<Plan> {
  return withMigrationLock(databaseUrl, () => withClient(databaseUrl, (client) => distributeTables(client, say)));
}

async function distributeTables(client: pg.Client, say: (line: string) => void): Promise<Plan> {
  const plan = await readPlan(client);
  if (plan.problems.length > 0) throw new EnvError(`Nothing was changed:\n- ${plan.problems.join("\n- ")}`);
  for (const table of plan.waiting) {
    await dropKeysToCoordinator(client, table);
    const [first] = tenantTables;
    const beside = table === first ? "" : `, colocate_with => '${first}'`;
    await client.query(`select create_distributed_table('${table}', 'user_id'${beside})`);
    say(`${table} is distributed by user`);
  }
  // Rows that were moved to the nodes remain on the coordinator, unread, until this.
  for (const table of plan.waiting)
    await client.query(`select truncate_local_data_after_distributing_table('${table}')`);
  return plan;
}

async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: "spoor-distribute" });
  client.on("error", () => {}); // the statement that meets it fails as well
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function readPlan(client: pg.Client): Promise<Plan> {
  const plan: Plan = { nodes: 0, distributed: [], waiting: [...tenantTables], problems: await findMisfits(client) };
  const { rows } = await client.query("select extversion from pg_extension where extname = 'citus'");
  if (rows.length === 0) {
    plan.problems.push("The database has no extension citus: `create extension citus`, here and on each node.");
    return plan;
  }
  const { rows: nodes } = await client.query<{ group: number; name: string }>(
    `select groupid as group, nodename as name from pg_dist_node where noderole = 'primary' and isactive`,
  );
  plan.nodes = nodes.filter(({ group }) => group > 0).length;
  if (plan.nodes > 0 && !nodes.some(({ group }) => group === 0))
    plan.problems.push("The nodes do not know the coordinator: `select citus_set_coordinator_host(HOST)`.");
  const { rows: settings } = await client.query<{ max: string }>(
    "select current_setting('max_prepared_transactions') as max",
  );
  if (settings[0]?.max === "0") plan.problems.push("`max_prepared_transactions` is 0; give every node at least 100.");
  const { rows: known } = await client.query<{ table: string }>(
    "select logicalrelid::regclass::text as table from pg_dist_partition where partmethod = 'h'",
  );
  plan.distributed = known.map(({ table }) => table).filter(isTenant);
  plan.waiting = tenantTables.filter((table) => !plan.distributed.includes(table));
  return plan;
}

/** What of the schema could not be distributed: nothing, in a database as the migrations make it. */
async function findMisfits(client: pg.Client): Promise<string[]> {
  const records = await client.query("select to_regclass('_prisma_migrations') as table");
  if (!records.rows[0]?.table) return ["The database has no tables yet: `npm run migrate`."];
  const pending = await pendingMigrations(client);
  if (pending.length > 0) return [`${pending.length} migrations are pending: \`npm run migrate\`.`];
  const { rows } = await client.query<{
    key: string;
    table: string;
    target: string | null;
    first: string;
    follows: boolean;
  }>(
    `select conname as key, conrelid::regclass::text as table, confrelid::regclass::text as target,
       attname as first, contype = 'f' and confupdtype <> 'a' as follows
     from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
     where conrelid = any($1::regclass[]) and contype in ('p', 'u', 'f')
     union
     select index.relname, class.relname, null, attname, false from pg_index
     join pg_class class on class.oid = indrelid join pg_class index on index.oid = indexrelid
     join pg_attribute on attrelid = indrelid and attnum = indkey[0]
     where indisunique and indrelid = any($1::regclass[])`,
    [[...tenantTables]],
  );
  return rows.flatMap(({ key, table, first, follows }) => [
    ...(first === "user_id" ? [] : [`${table}: the key ${key} does not begin with user_id.`]),
    ...(follows ? [`${table}: the foreign key ${key} has ON UPDATE CASCADE.`] : []),
  ]);
}

async function dropKeysToCoordinator(client: pg.Client, table: string): Promise<void> {
  const { rows } = await client.query<{ name: string; target: string }>(
    `select quote_ident(conname) as name, relname as target from pg_constraint
     join pg_class on pg_class.oid = confrelid where conrelid = $1::regclass and contype = 'f'`,
    [table],
  );
  for (const { name, target } of rows)
    if (!isTenant(target)) await client.query(`alter table ${table} drop constraint ${name}`);
}
