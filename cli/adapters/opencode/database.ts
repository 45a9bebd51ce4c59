import type { DatabaseSync } from "node:sqlite";
import { type Fields, parseJson } from "../../files/json.ts";
import type { Input, Sink } from "../adapter.ts";
import { type Older, Originals } from "../originals.ts";
import { hasColumn, makeInputPath, readJsonColumn, selectBounded, statDatabase } from "../sqlite.ts";
import { asFields, asString } from "../values.ts";
import type { SessionStore } from "./session.ts";

/**
 * The kind of rows with the later message has the whole session. A session with only newer rows is read from them even
 * if all of their types are unknown.
 */
const newer = {
  table: "session_message",
  isContent: "type IN ('user', 'assistant', 'shell', 'compaction')",
};

export function listSessions(path: string, database: DatabaseSync): Input[] {
  const totals = ["message", "part", ...(hasNewer(database) ? [newer.table] : [])].map(
    (table) => `(SELECT count(*) || ':' || coalesce(max(time_updated), 0) || ':' || coalesce(sum(octet_length(data)), 0)
      FROM ${table} WHERE session_id = session.id)`,
  );
  const rows = database.prepare(`SELECT id, time_updated AS changed, ${totals.join(" || ' ' || ")} AS totals
    FROM session ORDER BY id`);
  return rows.all().map((row) => toInput(path, row));
}

/** Most databases have the newer table, but no rows in it. */
const hasNewer = (database: DatabaseSync): boolean => hasColumn(database, newer.table, "data");

function toInput(path: string, { id, changed, totals }: Fields): Input {
  const tables = String(totals)
    .split(" ")
    .map((total) => total.split(":").map(Number));
  return {
    path: makeInputPath(path, String(id)),
    bytes: tables.reduce((sum, [, , bytes = 0]) => sum + bytes, 0),
    modifiedAt: Math.max(Number(changed), ...tables.map(([, time = 0]) => time)),
    stamp: `${changed} ${totals}`,
  };
}

const beginnings = new Map<string, { stamp: string | undefined; byTime: Map<unknown, string[]> }>();

async function groupByBeginning(path: string, database: DatabaseSync, table: string): Promise<Map<unknown, string[]>> {
  const key = `${path} ${table}`;
  const stamp = (await statDatabase(path))?.stamp;
  const known = beginnings.get(key);
  if (known && known.stamp === stamp) return known.byTime;
  const byTime = new Map<unknown, string[]>();
  const rows = database
    .prepare(
      `SELECT session_id AS id, min(message.time_created) AS first FROM ${table} AS message
        JOIN session ON session.id = session_id GROUP BY session_id ORDER BY session.time_created, session_id`,
    )
    .all();
  for (const { id, first } of rows) byTime.set(first, [...(byTime.get(first) ?? []), String(id)]);
  beginnings.set(key, { stamp, byTime });
  return byTime;
}

/** The copies in a fork have the times of the originals. */
async function findOlder(path: string, database: DatabaseSync, id: string, table: string): Promise<Older<number>[]> {
  const alike = [...(await groupByBeginning(path, database, table)).values()].find((ids) => ids.includes(id)) ?? [];
  const createdAt = "CASE WHEN json_valid(data) THEN json_extract(data, '$.time.created') END";
  const statement = database.prepare(
    `SELECT coalesce(${createdAt}, time_created) AS at FROM ${table} WHERE session_id = ?`,
  );
  return alike.slice(0, alike.indexOf(id)).map((sourceId) => {
    const times = new Set(statement.all(sourceId).map(({ at }) => Number(at)));
    return { sourceId, has: (time) => times.has(time) };
  });
}

export function openDatabaseStore(path: string, database: DatabaseSync, id: string, sink: Sink): SessionStore {
  const isNewer = readsNewer(database, id);
  const order = isNewer && hasColumn(database, newer.table, "seq") ? "seq" : "time_created";
  const table = isNewer ? newer.table : "message";
  const type = isNewer ? "type, " : "";
  const read = (row: Fields | undefined): Fields | undefined => {
    sink.entry();
    const data = row && readJsonColumn(row, "data", `row ${row.id}`, sink);
    return data && { ...data, ...(isNewer && { type: row.type }), id: row.id };
  };
  return {
    isNewer,
    async session() {
      sink.entry();
      const row = database.prepare("SELECT * FROM session WHERE id = ?").get(id);
      return row && { ...toDetails(row), worktree: readWorktree(database, row) };
    },
    originals: async () => new Originals(await findOlder(path, database, id, table)),
    async messageIds() {
      const rows = database.prepare(`SELECT id FROM ${table} WHERE session_id = ? ORDER BY ${order}, id`).all(id);
      return rows.flatMap((row) => asString(row.id) ?? []);
    },
    async message(messageId) {
      return read(
        database.prepare(`SELECT id, ${type}${selectBounded("data")} FROM ${table} WHERE id = ?`).get(messageId),
      );
    },
    async *parts(messageId) {
      const ids = database.prepare("SELECT id FROM part WHERE message_id = ? ORDER BY id").all(messageId);
      const statement = database.prepare(`SELECT id, ${selectBounded("data")} FROM part WHERE id = ?`);
      for (const row of ids) {
        const part = read(statement.get(row.id ?? null));
        if (part) yield part;
      }
    },
  };
}

function readsNewer(database: DatabaseSync, id: string): boolean {
  if (!hasNewer(database)) return false;
  const latest = (table: string, where: string) =>
    database
      .prepare(`SELECT coalesce(max(time_created), -1) AS at FROM ${table} WHERE session_id = ? AND ${where}`)
      .get(id);
  const older = Number(latest("message", "true")?.at);
  return Number(latest(newer.table, older === -1 ? "true" : newer.isContent)?.at) > older;
}

const parseColumn = (value: unknown): unknown => (typeof value === "string" ? parseJson(value) : undefined);

/** Sessions of the first versions do not name their folder. */
function readWorktree(database: DatabaseSync, { project_id: project }: Fields): unknown {
  if (typeof project !== "string" || !hasColumn(database, "project", "worktree")) return undefined;
  return database.prepare("SELECT worktree FROM project WHERE id = ?").get(project)?.worktree;
}

function toDetails(row: Fields): Fields {
  const model = parseColumn(row.model);
  return {
    id: row.id,
    parentID: row.parent_id,
    directory: row.directory,
    title: row.title,
    version: row.version,
    revert: parseColumn(row.revert),
    model: asFields(model).id,
    time: { created: row.time_created },
  };
}
