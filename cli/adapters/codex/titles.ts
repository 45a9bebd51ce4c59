import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { listFolder } from "../../files/discovery.ts";
import { makeLineIndex } from "../../files/file-cache.ts";
import type { Input } from "../adapter.ts";
import { hasColumn, hasSqlite, statDatabase, withDatabase } from "../sqlite.ts";
import { asString } from "../values.ts";

type ThreadTitles = ReadonlyMap<string, string>;

const known = new Map<string, { stamp: string; titles: ThreadTitles }>();

/**
 * Older versions append names to `session_index.jsonl`, where the last one counts; newer ones keep them in a database.
 */
export async function readTitles(home: string): Promise<ThreadTitles> {
  const index = await readIndex(join(home, "session_index.jsonl"));
  const databases = [await findLatestDatabase(home), await findLatestDatabase(join(home, "sqlite"))].flatMap(
    (one) => one ?? [],
  );
  let titles = index;
  for (const database of databases.sort((a, b) => a.modifiedAt - b.modifiedAt)) {
    const named = await readNames(database);
    if (named.size > 0) titles = new Map([...titles, ...named]);
  }
  return titles;
}

const readIndex = makeLineIndex(({ id, thread_name: name }) => [asString(id), asString(name)]);

async function findLatestDatabase(folder: string): Promise<Input | undefined> {
  const versions = (await listFolder(folder)).flatMap(({ name }) => /^state_(\d+)\.sqlite$/.exec(name)?.[1] ?? []);
  if (versions.length === 0 || !hasSqlite()) return undefined;
  return statDatabase(join(folder, `state_${Math.max(...versions.map(Number))}.sqlite`));
}

/** A missing title is better than a failure. */
async function readNames({ path, stamp }: Input): Promise<ThreadTitles> {
  const before = known.get(path);
  if (before?.stamp === stamp) return before.titles;
  const titles = await withDatabase(path, listNames).catch(() => new Map<string, string>());
  known.set(path, { stamp, titles });
  return titles;
}

/** Unless the user renames it, a thread's title is its first prompt, or the beginning of it. */
function listNames(database: DatabaseSync): ThreadTitles {
  const has = (column: string) => hasColumn(database, "threads", column);
  const given = has("first_user_message")
    ? "CASE WHEN first_user_message <> '' AND instr(first_user_message, trim(title)) = 0 THEN title END"
    : "NULL";
  const name = has("name") ? `coalesce(nullif(name, ''), ${given})` : given;
  const rows = database.prepare(`SELECT id, ${name} AS name FROM threads`).all();
  return new Map(
    rows.flatMap(({ id, name: one }) => {
      const title = asString(one)?.trim();
      return asString(id) && title ? [[String(id), title] as const] : [];
    }),
  );
}
