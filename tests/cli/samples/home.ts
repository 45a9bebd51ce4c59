// Whole homes of agents that keep more than one log: files, and databases as their rows, each with a small reading of its own.
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Host } from "../../../cli/adapters/adapter.ts";
import { makeDatabase } from "../databases.ts";
import { linesOf, makeHome, writeBelow } from "../home.ts";
import type { Counts, Sample } from "./sample.ts";

export type Cell = string | number | null | Uint8Array;
export type Row = Record<string, Cell>;
/** The rows of each table. */
export type Tables = Record<string, Row[]>;

export type Home = {
  /** By their paths below the home folder, whose own path `$HOME` stands for. */
  files?: Record<string, string>;
  databases?: Record<string, Tables>;
  /** The small reading. */
  count(): Counts;
};

/** The home of a sample that is one log. */
export const homeOf = ({ lines, document, path, others, count }: Sample): Home => ({
  files: {
    ...others,
    [path]: document ? document(lines.map((line) => JSON.stringify(line))) : linesOf(...lines),
  },
  count: () => count(lines),
});

/** Writes a home for the current test. */
export async function writeHome({ files = {}, databases = {} }: Home): Promise<Host> {
  const host = await makeHome();
  const { home } = host;
  for (const [path, tables] of Object.entries(databases)) fillDatabase(join(home, path), tables).close();
  for (const [path, text] of Object.entries(files)) await writeBelow(home, path, text.replaceAll("$HOME", home));
  return host;
}

/** A database with these rows. The caller closes it. */
export function fillDatabase(path: string, tables: Tables): DatabaseSync {
  const columnsOf = (rows: Row[]) => [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const schema = Object.entries(tables).map(
    ([table, rows]) => `CREATE TABLE ${table} (${columnsOf(rows).join(", ")});`,
  );
  const database = makeDatabase(path, `PRAGMA synchronous = OFF; BEGIN; ${schema.join("\n")}`);
  for (const [table, rows] of Object.entries(tables))
    for (const row of rows) {
      const names = Object.keys(row);
      database
        .prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`)
        .run(...Object.values(row));
    }
  database.exec("COMMIT");
  return database;
}
