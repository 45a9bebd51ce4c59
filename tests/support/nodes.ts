import pg from "pg";

/** True if the tests run on a distributed database, whose distributed tables can't have triggers. */
export const isDistributed = process.env.CITUS_DATABASE_URL !== undefined;

/** For `test.skipIf`: returns true on a distributed database, and prints why the test needs a single server. */
export function needsOneServer(reason: string): boolean {
  if (isDistributed) process.stdout.write(`A test is skipped on a distributed database: ${reason}.\n`);
  return isDistributed;
}

/** Runs statements of one connection. */
export async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Ends all connections to a database and refuses new ones, since a cluster's own processes connect to it. */
export const closeToAll = (node: string, name: string): Promise<void> =>
  run(
    node,
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
  );

/** Drops a database and ends its connections; closing ones may end by themselves. */
export async function dropDatabase(node: string, name: string): Promise<void> {
  await run(
    node,
    `alter database ${name} allow_connections false`,
    `do $$ begin
       for i in 1..20 loop
         exit when not exists (select from pg_stat_activity where datname = '${name}');
         perform pg_sleep(0.01);
         perform pg_stat_clear_snapshot();
       end loop;
     end $$`,
  );
  await closeToAll(node, name);
  await run(node, `drop database ${name} with (force)`);
}

/** Copies a database of a node and ends its connections. */
export async function copyDatabase(node: string, from: string, to: string): Promise<void> {
  await closeToAll(node, from);
  await run(
    node,
    `create database ${to} template ${from} strategy file_copy`,
    `alter database ${from} allow_connections true`,
  );
}

/** Returns the URL of another database on the same server. */
export function makeUrl(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}

/**
 * Lists the servers of a database: one, or the nodes of a cluster, coordinator first.
 *
 * @param coordinator a database whose extension knows the nodes, which accept the same name and password
 */
export async function readNodes(coordinator: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: coordinator });
  await client.connect();
  try {
    const { rows } = await client.query<{ host: string; port: number }>(
      "select nodename as host, nodeport as port from pg_dist_node where groupid > 0 and isactive order by nodeid",
    );
    const workers = rows.map(({ host, port }) => {
      const url = new URL(coordinator);
      url.hostname = host;
      url.port = `${port}`;
      return url.href;
    });
    return [coordinator, ...workers];
  } finally {
    await client.end();
  }
}

/** Registers the nodes in a coordinator's database, which stores no users' rows itself. */
export async function joinNodes(coordinator: string, workers: { host: string; port: number }[]): Promise<void> {
  const { hostname, port } = new URL(coordinator);
  await run(
    coordinator,
    `select citus_set_coordinator_host('${hostname}', ${port || 5432})`,
    ...workers.map((node) => `select citus_add_node('${node.host}', ${node.port})`),
    ...(workers.length > 0
      ? [`select citus_set_node_property('${hostname}', ${port || 5432}, 'shouldhaveshards', false)`]
      : []),
  );
}

/**
 * Creates a database with the extension on each node, and registers the nodes at the coordinator.
 *
 * @returns its URLs, the coordinator's first
 */
export async function makeClusterDatabase(nodes: string[], name: string): Promise<[string, ...string[]]> {
  const [coordinator = "", ...workers] = nodes.map((node) => makeUrl(node, name));
  for (const node of nodes) await run(node, `drop database if exists ${name} with (force)`, `create database ${name}`);
  for (const node of [coordinator, ...workers]) await run(node, "create extension citus");
  const addresses = workers.map((node) => new URL(node));
  await joinNodes(
    coordinator,
    addresses.map(({ hostname, port }) => ({ host: hostname, port: Number(port) || 5432 })),
  );
  return [coordinator, ...workers];
}
