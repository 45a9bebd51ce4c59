import { listFolder, statInput } from "../../files/discovery.ts";
import { type Fields, isFields, lineTooLong, maxLineBytes, parseJson } from "../../files/json-lines.ts";
import type { Input, Sink } from "../adapter.ts";
import { asString } from "../metadata.ts";
import type { Store } from "./json-folder.ts";

/** The databases in a folder: `opencode.db`, and one for each channel of releases (`opencode-CHANNEL.db`). */
export async function databasesIn(folder: string): Promise<string[]> {
  return (await listFolder(folder)).map(({ name }) => name).filter((name) => /^opencode(?:-[\w.-]+)?\.db$/.test(name));
}

/** What reads SQLite: Node has it since 22.5, and without a flag since 22.13. */
function sqlite(): typeof import("node:sqlite") | undefined {
  return process.getBuiltinModule?.("node:sqlite");
}

const separator = "#";

/** Each session of a database; where it can't be read, the file itself, so that it is named. */
export async function sessionsIn(path: string): Promise<Input[]> {
  const file = await statInput(path);
  if (!file) return [];
  const listed = list(path);
  return typeof listed === "string" ? [file] : listed;
}

/** Why a database can't be read, for a person. */
export function problemOf(path: string): string {
  const listed = list(path);
  return typeof listed === "string" ? listed : "it could not be read a moment ago";
}

/** @returns what is in a database, or why that can't be said */
function list(path: string): Input[] | string {
  const module = sqlite();
  if (!module)
    return `it is a SQLite database, which Node ${process.versions.node} can't read: use Node 22.13 or later`;
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
    return `it could not be read: ${(error as Error).message}`;
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

/** The id of a session in a database, by the name that `sessionsIn` gives it. */
export const idIn = (path: string): string | undefined => /\.db#(.+)$/.exec(path)?.[1];

/** Opens a session that `sessionsIn` found; undefined where it found none. @throws where the database can't be read */
export function openDatabase(path: string, sink: Sink): Store | undefined {
  const id = idIn(path);
  const module = sqlite();
  if (id === undefined || !module) return undefined;
  const database = new module.DatabaseSync(path.slice(0, -id.length - separator.length), { readOnly: true });
  const dataOf = `CASE WHEN octet_length(data) <= ${maxLineBytes} THEN data END AS data, octet_length(data) AS size`;
  const read = (row: Fields | undefined): Fields | undefined => {
    sink.entry();
    const data = typeof row?.data === "string" ? parseJson(row.data) : undefined;
    if (isFields(data)) return { ...data, id: row?.id };
    sink.invalid();
    if (row?.data === null && typeof row.size === "number") sink.lost(lineTooLong(row.size));
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
      const one = database.prepare(`SELECT id, ${dataOf} FROM part WHERE id = ?`);
      for (const row of ids) {
        const part = read(one.get(row.id ?? null));
        if (part) yield part;
      }
    },
    close: () => database.close(),
  };
}
