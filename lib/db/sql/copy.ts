// For `npm run move`. SQL: COPY.
import "server-only";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { EnvError } from "#lib/core/errors";
import { withRequiredAuth } from "#lib/db/required-auth";

type Say = (line: string) => void;
type CopiedTable = { name: string; columns: string[]; parents: string[] };

/** The target has its own. */
const leftOut = ["_prisma_migrations", "process_heartbeat"];
const progressMs = 5000;

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** the worker recreates pg-boss's tables */
async function readTables(client: pg.Client): Promise<CopiedTable[]> {
  const { rows } = await client.query<CopiedTable>(
    `select c.relname as name,
       array(select a.attname::text from pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as columns,
       array(select p.relname::text from pg_constraint f join pg_class p on p.oid = f.confrelid
             where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as parents
     from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relname <> all($1)`,
    [leftOut],
  );
  return rows;
}

function inOrder(tables: CopiedTable[]): CopiedTable[] {
  const sorted: CopiedTable[] = [];
  let waiting = tables;
  while (waiting.length > 0) {
    const isReady = ({ parents }: CopiedTable) =>
      parents.every((name) => !waiting.some((other) => other.name === name));
    const ready = waiting.filter(isReady);
    if (ready.length === 0)
      throw new Error(`tables refer to each other: ${waiting.map(({ name }) => name).join(", ")}`);
    sorted.push(...ready);
    waiting = waiting.filter((table) => !isReady(table));
  }
  return sorted;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: withRequiredAuth(url),
    application_name: "spoor-move",
    connectionTimeoutMillis: 10_000,
  });
  client.on("error", () => {}); // the next statement fails as well
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

export async function expectEmpty(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query("select current_setting('server_version_num')::int as version");
    if (rows[0].version < 150_000) throw new EnvError("The target is older than PostgreSQL 15.");
    for (const { name } of await readTables(client)) {
      const { rowCount } = await client.query(`select 1 from ${quoted(name)} limit 1`);
      if (rowCount) throw new EnvError(`The target is not empty: its table ${name} has rows. Nothing was copied.`);
    }
  });
}

/** @returns how many rows @throws if counts differ; nothing is copied then */
export function copyRows(fromUrl: string, toUrl: string, say: Say): Promise<number> {
  return withClient(fromUrl, (source) =>
    withClient(toUrl, async (target) => {
      await source.query("begin isolation level repeatable read, read only");
      await target.query("begin");
      let total = 0;
      for (const table of inOrder(await readTables(source))) total += await copyTable(source, target, table, say);
      await copySequences(source, target);
      await target.query("commit");
      await target.query("analyze");
      return total;
    }),
  );
}

async function copyTable(
  source: pg.Client,
  target: pg.Client,
  { name, columns }: CopiedTable,
  say: Say,
): Promise<number> {
  const table = `${quoted(name)} (${columns.map(quoted).join(", ")})`;
  let [bytes, saidAt] = [0, performance.now()];
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (performance.now() - saidAt > progressMs) {
        saidAt = performance.now();
        say(`  ${name}: ${Math.round(bytes / 1e6)} MB so far`);
      }
      yield chunk;
    }
  }
  const reading = source.query(copyTo(`copy ${table} to stdout (format binary)`));
  await pipeline(reading, counted, target.query(copyFrom(`copy ${table} from stdin (format binary)`)));
  const count = async (client: pg.Client) => {
    const { rows } = await client.query<{ count: string }>(`select count(*) from ${quoted(name)}`);
    return Number(rows[0]?.count);
  };
  const [had, has] = [await count(source), await count(target)];
  if (had !== has) throw new Error(`${name} has ${had} rows, of which ${has} arrived`);
  if (has > 0) say(`  ${name}: ${has} rows`);
  return has;
}

async function copySequences(source: pg.Client, target: pg.Client): Promise<void> {
  const { rows } = await source.query<{ name: string; value: string }>(
    `select quote_ident(sequencename) as name, last_value as value from pg_sequences
     where schemaname = current_schema() and last_value is not null`,
  );
  for (const { name, value } of rows) await target.query("select setval($1::regclass, $2)", [name, value]);
}
