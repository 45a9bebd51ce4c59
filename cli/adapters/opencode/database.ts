import { listFolder, statInput } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { maxWholeBytes } from "../../files/line-reader.ts";
import type { Input, Sink } from "../adapter.ts";
import { asString } from "../values.ts";
import type { Store } from "./store.ts";

/** The names of the databases in a folder: `opencode.db`, and one per release channel (`opencode-CHANNEL.db`). */
export async function listDatabases(folder: string): Promise<string[]> {
  return (await listFolder(folder)).map(({ name }) => name).filter((name) => /^opencode(?:-[\w.-]+)?\.db$/.test(name));
}

/** Node's SQLite module: Node 22.13 and later. */
function loadSqlite(): typeof import("node:sqlite") | undefined {
  return process.getBuiltinModule?.("node:sqlite");
}

const separator = "#";

/** Each session of a database; where it can't be read, the file itself: parsing it reports the reason. */
export async function findDatabaseSessions(path: string): Promise<Input[]> {
  const file = await statInput(path);
  if (!file) return [];
  const listed = listSessions(path);
  return typeof listed === "string" ? [file] : listed;
}

/** Why a database can't be read. */
export function databaseProblem(path: string): string {
  const listed = listSessions(path);
  return typeof listed === "string" ? listed : "it could not be read";
}

/** @returns the sessions, or why they can't be read */
function listSessions(path: string): Input[] | string {
  const module = loadSqlite();
  if (!module) return `SQLite databases need Node 22.13 or later; this is Node ${process.versions.node}`;
  try {
    const database = new module.DatabaseSync(path, { readOnly: true });
    try {
      return database
        .prepare(listing)
        .all()
        .map((row) => inputIn(path, row));
    } finally {
      database.close();
    }
  } catch (error) {
    return `it can't be read: ${(error as Error).message}`;
  }
}

const listing = `SELECT id, time_updated AS changed,
    (SELECT count(*) FROM part WHERE session_id = session.id) AS parts,
    (SELECT coalesce(max(time_updated), 0) FROM part WHERE session_id = session.id) AS partChanged,
    (SELECT coalesce(sum(octet_length(data)), 0) FROM part WHERE session_id = session.id) AS bytes,
    (SELECT count(*) FROM message WHERE session_id = session.id) AS messages,
    (SELECT coalesce(max(time_updated), 0) FROM message WHERE session_id = session.id) AS messageChanged
  FROM session ORDER BY id`;

function inputIn(path: string, row: Fields): Input {
  const times = [row.changed, row.partChanged, row.messageChanged].map(Number);
  return {
    path: `${path}${separator}${row.id}`,
    bytes: Number(row.bytes),
    modifiedAt: Math.max(...times),
    stamp: [...times, row.parts, row.messages, row.bytes].join(":"),
  };
}

/** The session's id in a path made by `findDatabaseSessions`. */
export const databaseSessionId = (path: string): string | undefined => /\.db#(.+)$/.exec(path)?.[1];

/** Opens a session that `findDatabaseSessions` found; undefined for another path. @throws where the database can't be read */
export function openDatabase(path: string, sink: Sink): Store | undefined {
  const id = databaseSessionId(path);
  const module = loadSqlite();
  if (id === undefined || !module) return undefined;
  const database = new module.DatabaseSync(path.slice(0, -id.length - separator.length), { readOnly: true });
  const dataOf = `CASE WHEN octet_length(data) <= ${maxWholeBytes} THEN data END AS data, octet_length(data) AS size`;
  const read = (row: Fields | undefined): Fields | undefined => {
    sink.entry();
    const data = typeof row?.data === "string" ? parseJson(row.data) : undefined;
    if (isFields(data)) return { ...data, id: row?.id };
    sink.invalid(`row ${row?.id} is not a JSON object`);
    if (row?.data === null && typeof row.size === "number")
      sink.lost(`row ${row.id} is larger than ${maxWholeBytes / 1024 / 1024} MiB`);
    return undefined;
  };
  return {
    async session() {
      sink.entry();
      const row = database.prepare("SELECT * FROM session WHERE id = ?").get(id);
      if (!row) return undefined;
      const revert = typeof row.revert === "string" ? parseJson(row.revert) : undefined;
      const time = { created: row.time_created };
      return {
        id,
        parentID: row.parent_id,
        directory: row.directory,
        title: row.title,
        version: row.version,
        revert,
        time,
      };
    },
    async messageIds() {
      const rows = database.prepare("SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id").all(id);
      return rows.flatMap((row) => asString(row.id) ?? []);
    },
    async message(messageId) {
      return read(database.prepare(`SELECT id, ${dataOf} FROM message WHERE id = ?`).get(messageId));
    },
    async *parts(messageId) {
      const ids = database.prepare("SELECT id FROM part WHERE message_id = ? ORDER BY id").all(messageId);
      const statement = database.prepare(`SELECT id, ${dataOf} FROM part WHERE id = ?`);
      for (const row of ids) {
        const part = read(statement.get(row.id ?? null));
        if (part) yield part;
      }
    },
    close: () => database.close(),
  };
}
