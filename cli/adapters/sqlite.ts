// Agents' SQLite databases: read-only, while their programs write to them.
import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { statInput } from "../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../files/json.ts";
import { maxWholeBytes } from "../files/line-reader.ts";
import type { Input, Sink } from "./adapter.ts";

/** How long a statement waits for a writer that locks the database. */
const busyTimeoutMs = 1000;

/** No value of a row is larger, whatever a statement asks for. Node has this limit since 24.15. */
const maxValueBytes = 4 * maxWholeBytes;

const loadSqlite = (): typeof import("node:sqlite") | undefined => process.getBuiltinModule?.("node:sqlite");

/** Whether this Node can read SQLite: 22.13 and later. */
export const hasSqlite = (): boolean => loadSqlite() !== undefined;

const missingSqlite = () =>
  `SQLite databases need Node 22.13 or later; this is Node ${process.versions.node}. Run spoor with a newer Node.`;

/**
 * Opens a database for reading. Nothing in it is trusted: no extension, no function called by its schema, and nothing that the
 * schema computes.
 *
 * @throws where it is no database, can't be read, or this Node has no SQLite
 */
export async function openDatabase(path: string): Promise<DatabaseSync> {
  const sqlite = loadSqlite();
  if (!sqlite) throw new Error(missingSqlite());
  for (const log of [`${path}-journal`, `${path}-wal`]) if (await isNoFile(log)) throw new Error(`${log} is no file`);
  const location = (await isUnwritten(path)) ? immutable(path) : path;
  const database = new sqlite.DatabaseSync(location, { readOnly: true, limits: { length: maxValueBytes } });
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA trusted_schema = OFF;`);
    forbidComputed(database, sqlite.constants);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Forbids statements to read views, and empties virtual columns: a query or an expression of a stranger's could run for ever, and
 * no signal interrupts it. A Node before 24.10 can't forbid it, so there a database with any is not read.
 */
function forbidComputed(database: DatabaseSync, codes: Constants): void {
  const views = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").all();
  const columns = database
    .prepare(
      `SELECT one.name AS "table", column.name FROM sqlite_schema AS one, pragma_table_xinfo(one.name) AS column
        WHERE one.type = 'table' AND column.hidden = 2`,
    )
    .all();
  if (views.length + columns.length === 0) return;
  if (!database.setAuthorizer) throw new Error("it has views or virtual columns, which are not read");
  const forbidden = new Set(views.map(({ name }) => foldNames(name)));
  const emptied = new Set(columns.map(({ table, name }) => foldNames(table, name)));
  database.setAuthorizer((action, table, column, _schema, view) => {
    if (action !== codes.SQLITE_READ) return codes.SQLITE_OK;
    if (view || forbidden.has(foldNames(table))) return codes.SQLITE_DENY;
    return emptied.has(foldNames(table, column)) ? codes.SQLITE_IGNORE : codes.SQLITE_OK;
  });
}

type Constants = typeof import("node:sqlite").constants;

/** SQLite's names have no case. */
const foldNames = (...names: unknown[]): string => names.map((name) => String(name).toLowerCase()).join("\n");

/** Whether something else than a file is there: SQLite would wait for a pipe that nobody writes to, and no signal would end that. */
const isNoFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => !found.isFile(),
    () => false,
  );

/** Whether nobody writes to a database, and SQLite could not make its `-shm` file either: in a folder that is read-only. */
async function isUnwritten(path: string): Promise<boolean> {
  const hasLog = await stat(`${path}-wal`).then(
    ({ size }) => size > 0,
    () => false,
  );
  if (hasLog) return false;
  return access(dirname(path), constants.W_OK).then(
    () => false,
    () => true,
  );
}

function immutable(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

const separator = "#";
const databaseEnding = /\.(?:db|vscdb|sqlite3?)$/;

/** The path of a session's input: that of its database, and its id there. */
export const inputPath = (database: string, id: string): string => `${database}${separator}${id}`;

/** The parts of a path made by `inputPath`; without an id, the path is that of a file. */
export function inputParts(path: string): { database: string; id?: string } {
  for (let at = path.indexOf(separator); at !== -1; at = path.indexOf(separator, at + 1)) {
    const database = path.slice(0, at);
    if (databaseEnding.test(database)) return { database, id: path.slice(at + 1) };
  }
  return { database: path };
}

/** A database and its log, of which either changes with each write; undefined where it is missing. */
export async function statDatabase(path: string): Promise<Input | undefined> {
  const file = await statInput(path);
  if (!file) return undefined;
  const log = await statInput(`${path}-wal`);
  if (!log) return file;
  return {
    path,
    bytes: file.bytes + log.bytes,
    modifiedAt: Math.max(file.modifiedAt, log.modifiedAt),
    stamp: `${file.stamp} ${log.stamp}`,
  };
}

type Listing = { stamp: string; inputs: Input[] };

/** What was found in each database: one that nobody has written to since is not asked again. */
const listings = new Map<string, Listing>();

/**
 * Each session of a database as an input of its own. Where the database can't be read, the file itself is one: parsing it
 * with `readDatabase` tells why.
 *
 * @param list the sessions; the path of each is made by `inputPath`
 */
export async function findSessions(path: string, list: (database: DatabaseSync) => Input[]): Promise<Input[]> {
  const file = await statDatabase(path);
  if (!file) return [];
  if (!hasSqlite()) return [{ ...file, stamp: "needs SQLite", needsNewerNode: true }];
  const known = listings.get(path);
  if (known?.stamp === file.stamp) return known.inputs;
  let inputs: Input[];
  try {
    const database = await openDatabase(path);
    try {
      inputs = list(database);
    } finally {
      database.close();
    }
  } catch {
    return [file];
  }
  listings.set(path, { stamp: file.stamp, inputs });
  return inputs;
}

/**
 * Reads an input that `findSessions` found.
 *
 * @param list as for `findSessions`: repeated to tell why a database can't be read
 * @throws where the database can't be read, or is gone
 */
export async function readDatabase(
  path: string,
  sink: Sink,
  list: (database: DatabaseSync) => Input[],
  read: (database: DatabaseSync, id: string) => Promise<void>,
): Promise<void> {
  const { database: file, id } = inputParts(path);
  if (!hasSqlite()) return sink.lost(missingSqlite());
  await stat(file);
  const database = await openDatabase(file);
  try {
    if (id === undefined) list(database);
    else await read(database, id);
  } finally {
    database.close();
  }
}

/** A column with a text or bytes of bounded size, and its size, as `NAME` and `NAMESize`. */
export const boundedColumn = (column: string, name: string = column): string =>
  `CASE WHEN octet_length(${column}) <= ${maxWholeBytes} THEN ${column} END AS ${name}, octet_length(${column}) AS ${name}Size`;

/** A text that a database holds as text or as bytes. */
export function readColumnText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : undefined;
}

/**
 * A column made by `boundedColumn` as a JSON object. One that is none is counted as invalid, a larger one reported as lost.
 *
 * @param label names the row to the user
 */
export const readJsonColumn = (row: Fields, name: string, label: string, sink: Sink): Fields | undefined =>
  readColumn(row, { name, label, sink, is: isFields, kind: "object" });

/** As `readJsonColumn`, for a JSON list. */
export const readJsonList = (row: Fields, name: string, label: string, sink: Sink): unknown[] | undefined =>
  readColumn(row, { name, label, sink, is: (value): value is unknown[] => Array.isArray(value), kind: "list" });

type Wanted<T> = { name: string; label: string; sink: Sink; is: (value: unknown) => value is T; kind: string };

function readColumn<T>(row: Fields, { name, label, sink, is, kind }: Wanted<T>): T | undefined {
  const size = row[`${name}Size`];
  if (row[name] === null && typeof size === "number" && size > maxWholeBytes) {
    sink.lost(`${label} is larger than ${maxWholeBytes / 1024 / 1024} MiB`);
    return undefined;
  }
  const value = parseJson(readColumnText(row[name]) ?? "");
  if (is(value)) return value;
  sink.invalid(`${label} is not a JSON ${kind}`);
  return undefined;
}

/** Whether a database has a table, or a table has a column. */
export function hasColumn(database: DatabaseSync, table: string, column: string): boolean {
  const found = database.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?").get(table, column);
  return found !== undefined;
}
