import pg from "pg";

/** Whether the tests run on a distributed database, which has no triggers on the tables that are on its nodes. */
export const isDistributed = process.env.CITUS_DATABASE_URL !== undefined;

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

/** The same server's URL for another database. */
export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}

/**
 * The servers that make a database: one, or the nodes of a cluster, its coordinator first.
 *
 * @param coordinator a database whose extension knows the nodes; they take the same name and password.
 */
export async function nodesOf(coordinator: string): Promise<string[]> {
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

/** Tells a coordinator's database of its nodes. It keeps no rows of users itself. */
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
