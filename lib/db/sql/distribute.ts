// docs/growth.md. SQL: the extension citus and the catalog.
import "server-only";
import pg from "pg";
import { EnvError } from "#lib/core/errors";
import { operatorCommand } from "#lib/core/variables/operator-command";
import { pendingMigrations } from "#lib/db/migrations";
import { withRequiredAuth } from "#lib/db/required-auth";
import { withMigrationLock } from "#lib/db/sql/migration-lock";
import { tenantTables } from "#lib/db/tenant-tables";

export type Plan = {
  nodes: number;
  distributed: string[];
  waiting: string[];
  /** Distributed tables whose former rows are still on the coordinator after an interrupted call. */
  remaining: string[];
  problems: string[];
};

const isTenant = (table: string) => (tenantTables as readonly string[]).includes(table);

/** Describes what `distribute` would do. */
export async function planDistribution(databaseUrl: string): Promise<Plan> {
  return withClient(databaseUrl, readPlan);
}

/**
 * Writers wait while rows move, and an interrupted call is continued by the next.
 * @throws EnvError with all problems, before anything is changed
 */
export function distribute(databaseUrl: string, say: (line: string) => void): Promise<Plan> {
  return withMigrationLock(databaseUrl, () => withClient(databaseUrl, (client) => distributeTables(client, say)));
}

/** The caller must have the migration lock. */
export async function distributeAdded(client: pg.Client): Promise<void> {
  const { rows } = await client.query("select from pg_extension where extname = 'citus'");
  const known = rows.length > 0 ? await readDistributed(client) : [];
  if (known.length > 0 && known.length < tenantTables.length) await distributeTables(client, () => {});
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
  // Moved rows remain on the coordinator, unread, until this.
  for (const table of [...plan.remaining, ...plan.waiting])
    await client.query(`select truncate_local_data_after_distributing_table('${table}')`);
  return plan;
}

async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: withRequiredAuth(databaseUrl),
    application_name: "spoor-distribute",
  });
  client.on("error", () => {}); // the next statement fails as well
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function readPlan(client: pg.Client): Promise<Plan> {
  const plan: Plan = {
    ...{ nodes: 0, distributed: [], waiting: [...tenantTables], remaining: [] },
    problems: await findMisfits(client),
  };
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
  plan.problems.push(...(await findUnreadyNodes(client)));
  plan.distributed = await readDistributed(client);
  plan.waiting = tenantTables.filter((table) => !plan.distributed.includes(table));
  const { rows: remaining } = await client.query<{ table: string }>(
    `select relname as table from pg_class
     where oid = any($1::regclass[]) and pg_relation_size(oid) > 0`,
    [plan.distributed],
  );
  plan.remaining = remaining.map(({ table }) => table);
  return plan;
}

async function readDistributed(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ table: string }>(
    "select logicalrelid::regclass::text as table from pg_dist_partition where partmethod = 'h'",
  );
  return rows.map(({ table }) => table).filter(isTenant);
}

/** Checks that transactions over several nodes can commit. */
async function findUnreadyNodes(client: pg.Client): Promise<string[]> {
  const setting = "select current_setting('max_prepared_transactions')";
  const { rows } = await client.query<{ name: string; answered: boolean; result: string }>(
    `select 'the coordinator' as name, true as answered, (${setting}) as result
     union all
     select format('the node %s:%s', nodename, nodeport), success, result
     from run_command_on_workers($1) join pg_dist_node using (nodename, nodeport)`,
    [setting],
  );
  return rows.flatMap(({ name, answered, result }) => {
    if (!answered) return [`No answer from ${name}: ${result}`];
    return result === "0" ? [`On ${name} \`max_prepared_transactions\` is 0; give it at least 100.`] : [];
  });
}

async function findMisfits(client: pg.Client): Promise<string[]> {
  const records = await client.query("select to_regclass('_prisma_migrations') as table");
  if (!records.rows[0]?.table) return [`The database has no tables yet: \`${operatorCommand("migrate")}\`.`];
  const pending = await pendingMigrations(client);
  if (pending.length > 0) return [`${pending.length} migrations are pending: \`${operatorCommand("migrate")}\`.`];
  return [...(await findMisfitKeys(client)), ...(await findMisfitObjects(client))];
}

async function findMisfitKeys(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ key: string; table: string; first: string; follows: boolean }>(
    `select conname as key, conrelid::regclass::text as table, attname as first,
       contype = 'f' and confupdtype <> 'a' as follows
     from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
     where conrelid = any($1::regclass[]) and contype in ('p', 'u', 'f', 'x')
     union
     select index.relname, class.relname, attname, false from pg_index
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

async function findMisfitObjects(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ problem: string }>(
    `select format('%s: the trigger %s; tables on nodes have none.', tgrelid::regclass, tgname) as problem
     from pg_trigger where tgrelid = any($1::regclass[]) and not tgisinternal
     union all
     select format('%s: the foreign key %s refers to %s, which is to be on the nodes.',
       conrelid::regclass, conname, confrelid::regclass)
     from pg_constraint where contype = 'f' and confrelid = any($1::regclass[]) and conrelid <> all($1::regclass[])`,
    [[...tenantTables]],
  );
  return rows.map(({ problem }) => problem);
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
