// Homes that drifted: each file in each way in which a newer program, a crash or a broken disk may leave it.
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLong } from "../../support/long.ts";
import type { Cell, Home, Tables } from "./home.ts";
import { fillDatabase } from "./home.ts";

/** A value of a file's JSON, changed; undefined leaves it out. */
type Change = (key: string, value: unknown) => unknown;

export const strange = "hologram";
/** What says of which type, or whose, an entry is. */
const typeKeys = /^(?:type|kind|role|sessionUpdate|actionType|Prompt|ToolUse|User|Agent)$/;
const versionKeys = /^_?v$|version/i;

/** The names of all fields in a value. */
function getKeys(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) found.add(key);
    getKeys(inner, found);
  }
  return found;
}

function changed(value: unknown, change: Change): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => changed(one, change));
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const other = change(key, inner);
    return other === undefined ? [] : [[key, other === inner ? changed(inner, change) : other]];
  });
  return Object.fromEntries(entries);
}

const valuesOfTexts = new Map<string, unknown>();

/** Parses JSON, each text once: a home is changed in hundreds of ways. @returns undefined for what is no JSON */
function parsed(text: string): unknown {
  if (!valuesOfTexts.has(text)) valuesOfTexts.set(text, parseJson(text));
  return valuesOfTexts.get(text);
}

function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined; // an error for each text that is no JSON would take most of the time
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
const isJson = (text: string) => typeof parsed(text) === "object";

/** A file's values: one, or one for each line; none where it is no JSON. */
function valuesIn(text: string): unknown[] {
  if (isJson(text)) return [parsed(text)];
  const lines = text.split("\n").filter(Boolean);
  return lines.every(isJson) ? lines.map(parsed) : [];
}

function changedText(text: string, change: Change): string {
  if (valuesIn(text).length === 0) return text;
  if (isJson(text)) return JSON.stringify(changed(parsed(text), change));
  return text
    .split("\n")
    .map((line) => (line ? JSON.stringify(changed(parsed(line), change)) : line))
    .join("\n");
}

function changedCell(column: string, cell: Cell, change: Change): Cell | undefined {
  const other = change(column, cell);
  if (other === undefined) return undefined;
  if (other !== cell) return typeof other === "object" && other !== null ? JSON.stringify(other) : (other as Cell);
  if (typeof cell === "string" && isJson(cell)) return changedText(cell, change);
  const bytes = cell instanceof Uint8Array ? Buffer.from(cell).toString("utf8") : "";
  return valuesIn(bytes).length > 0 ? Buffer.from(changedText(bytes, change)) : cell;
}

function changedHome(home: Home, change: Change): Home {
  const files = Object.entries(home.files ?? {}).map(([path, text]) => [path, changedText(text, change)]);
  const databases = Object.entries(home.databases ?? {}).map(([path, tables]) => [path, changedTables(tables, change)]);
  return { ...home, files: Object.fromEntries(files), databases: Object.fromEntries(databases) };
}

function changedTables(tables: Tables, change: Change): Tables {
  const changedRows = Object.entries(tables).map(([name, rows]) => [
    name,
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).flatMap(([column, cell]) => {
          const other = changedCell(column, cell, change);
          return other === undefined ? [] : [[column, other]];
        }),
      ),
    ),
  ]);
  return Object.fromEntries(changedRows);
}

/** The names of all fields and columns of a home. */
function getFields({ files = {}, databases = {} }: Home): string[] {
  const found = new Set<string>();
  for (const text of Object.values(files)) for (const value of valuesIn(text)) getKeys(value, found);
  for (const rows of Object.values(databases).flatMap((tables) => Object.values(tables)))
    for (const row of rows)
      for (const [column, cell] of Object.entries(row)) {
        found.add(column);
        const text = cell instanceof Uint8Array ? Buffer.from(cell).toString("utf8") : String(cell);
        for (const value of valuesIn(text)) getKeys(value, found);
      }
  return [...found];
}

/** Each kind of entry under another name, one field of the format at a time. */
export const unknownTypes = (home: Home): Home[] =>
  getFields(home)
    .filter((key) => typeKeys.test(key))
    .map((name) =>
      changedHome(home, (key, value) => (key === name ? (typeof value === "string" ? strange : undefined) : value)),
    );

/** Every object with a field that nobody knows, and every version as of a program to come. */
export const futureVersions = (home: Home): Home[] => [
  changedHome(home, (key, value) => {
    if (versionKeys.test(key)) return typeof value === "number" ? 999 : "999.0.0";
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
    return isObject && Object.keys(value).length > 0 && !("future" in value) ? { ...value, future: { is: 1 } } : value;
  }),
];

/** One field left out wherever it stands: every fourth field, all in long tests. */
export const missingFields = (home: Home): Home[] =>
  getFields(home)
    .filter((_, index) => isLong || index % 4 === 1)
    .map((name) => changedHome(home, (key, value) => (key === name ? undefined : value)));

const others = [null, "?", 9e15, [null], { type: strange }];
/** One field with values of other types, wherever it stands: one of them for every fourth field, all in long tests. */
export const wrongTypes = (home: Home): Home[] =>
  getFields(home).flatMap((name, index) => {
    const chosen = index % 4 === 3 ? [others[(index >> 2) % others.length]] : [];
    return (isLong ? others : chosen).map((other) => changedHome(home, (key, value) => (key === name ? other : value)));
  });

const bytesOfHomes = new WeakMap<Home, Record<string, Buffer>>();

/** The bytes of every file of a home, also of its databases, by their paths. */
export function findBytes(home: Home): Record<string, Buffer> {
  const bytes = bytesOfHomes.get(home) ?? readBytes(home);
  bytesOfHomes.set(home, bytes);
  return bytes;
}

function readBytes({ files = {}, databases = {} }: Home): Record<string, Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "spoor-drift-"));
  try {
    const found = Object.entries(files).map(([path, text]): [string, Buffer] => [path, Buffer.from(text)]);
    for (const [index, [path, tables]] of Object.entries(databases).entries()) {
      const file = join(folder, String(index));
      const database = fillDatabase(file, tables);
      database.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
      database.close();
      if (existsSync(file)) found.push([path, readFileSync(file)]);
    }
    return Object.fromEntries(found);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bytes that are always the same and look like none of any format. */
const rubbish = Buffer.concat(
  Array.from({ length: 200 }, (_, index) => createHash("sha512").update(`rubbish ${index}`).digest()),
);

/** What may become of a file's bytes. */
export const damages: [name: string, damage: (bytes: Buffer) => Buffer][] = [
  ["an empty file", () => Buffer.alloc(0)],
  ["binary rubbish", () => rubbish],
  ["rubbish after a good beginning", (bytes) => Buffer.concat([bytes.subarray(0, bytes.length / 2), rubbish])],
  ["zeros as after a power failure", (bytes) => Buffer.alloc(bytes.length)],
  ...[0.1, 0.5, 0.9, 0.999].map((share): [string, (bytes: Buffer) => Buffer] => [
    `a file that was cut off at ${share}`,
    (bytes) => bytes.subarray(0, Math.floor(bytes.length * share)),
  ]),
];
