// Agents' SQLite databases are read while their programs write to them.
import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { statInput } from "../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../files/json.ts";
import { maxWholeBytes } from "../files/line-reader.ts";
import type { Input, Sink } from "./adapter.ts";

const busyTimeoutMs = 1000;

/** Node has this limit since 24.15. */
const maxValueBytes = 4 * maxWholeBytes;

const loadSqlite = (): typeof import("node:sqlite") | undefined => process.getBuiltinModule?.("node:sqlite");

/** SQLite is in Node since 22.13. */
export const hasSqlite = (): boolean => loadSqlite() !== undefined;

const explainMissingSqlite = () =>
  `SQLite databases need Node 22.13 or later; this is Node ${process.versions.node}. Run spoor with a newer Node.`;

/**
 * A hostile database could run extensions, functions and computed values.
 *
 * @throws if it can't be read, or this Node has no SQLite
 */
async function openDatabase(path: string): Promise<DatabaseSync> {
  const sqlite = loadSqlite();
  if (!sqlite) throw new Error(explainMissingSqlite());
  for (const log of [`${path}-journal`, `${path}-wal`])
    if (await isNoFile(log)) throw new Error(`${log} is not a file`);
  const location = (await isUnwritten(path)) ? toImmutable(path) : path;
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

export async function withDatabase<T>(path: string, read: (database: DatabaseSync) => T | Promise<T>): Promise<T> {
  const database = await openDatabase(path);
  try {
    return await read(database);
  } finally {
    database.close();
  }
}

/**
 * A stranger's view or virtual column could run forever, and no signal interrupts it. A Node before 24.10 can't forbid
 * them.
 */
function forbidComputed(database: DatabaseSync, codes: typeof import("node:sqlite").constants): void {
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

const foldNames = (...names: unknown[]): string => names.map((name) => String(name).toLowerCase()).join("\n");

/** SQLite would wait forever for a pipe that nobody writes to. */
const isNoFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => !found.isFile(),
    () => false,
  );

/** A read-only folder can't have the `-shm` file that SQLite wants. */
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

function toImmutable(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return url;
}

const separator = "#";
const databaseEnding = /\.(?:db|vscdb|sqlite3?)$/;

export const makeInputPath = (database: string, id: string): string => `${database}${separator}${id}`;

export function splitInputPath(path: string): { database: string; id?: string } {
  for (let at = path.indexOf(separator); at !== -1; at = path.indexOf(separator, at + 1)) {
    const database = path.slice(0, at);
    if (databaseEnding.test(database)) return { database, id: path.slice(at + 1) };
  }
  return { database: path };
}

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

export type ListSessions = (path: string, database: DatabaseSync) => Input[];

const listings = new Map<string, { stamp: string; inputs: Input[] }>();

/** A database that can't be read is an input itself: parsing it reports why. */
export async function findSessions(path: string, list: ListSessions): Promise<Input[]> {
  const file = await statDatabase(path);
  if (!file) return [];
  if (!hasSqlite()) return [{ ...file, stamp: "needs SQLite", needsNewerNode: true }];
  const known = listings.get(path);
  if (known?.stamp === file.stamp) return known.inputs;
  try {
    const inputs = await withDatabase(path, (database) => list(path, database));
    listings.set(path, { stamp: file.stamp, inputs });
    return inputs;
  } catch {
    return [file];
  }
}

export async function readDatabase(
  path: string,
  sink: Sink,
  list: ListSessions,
  read: (database: DatabaseSync, id: string, databasePath: string) => Promise<void>,
): Promise<void> {
  const { database: file, id } = splitInputPath(path);
  if (!hasSqlite()) return sink.lost(explainMissingSqlite());
  await stat(file);
  await withDatabase(file, async (database) => {
    if (id === undefined) list(file, database);
    else await read(database, id, file);
  });
}

export const selectBounded = (column: string, name: string = column): string =>
  `CASE WHEN octet_length(${column}) <= ${maxWholeBytes} THEN ${column} END AS ${name}, octet_length(${column}) AS ${name}Size`;

export function readColumnText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : undefined;
}

/**
 * Counts anything else as invalid, and a larger value as lost.
 *
 * @param label names the row to the user
 */
export const readJsonColumn = (row: Fields, name: string, label: string, sink: Sink): Fields | undefined =>
  readColumn(row, { name, label, sink, is: isFields, kind: "object" });

export const readJsonList = (row: Fields, name: string, label: string, sink: Sink): unknown[] | undefined =>
  readColumn(row, { name, label, sink, is: (value): value is unknown[] => Array.isArray(value), kind: "list" });

function readColumn<T>(
  row: Fields,
  {
    name,
    label,
    sink,
    is,
    kind,
  }: { name: string; label: string; sink: Sink; is(value: unknown): value is T; kind: string },
): T | undefined {
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

export function hasColumn(database: DatabaseSync, table: string, column: string): boolean {
  const found = database.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?").get(table, column);
  return found !== undefined;
}
