// Whole homes of agents that keep more than one log: files, and databases as their rows, each with a small reading of its own.
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import type { Host } from "../../../cli/adapters/adapter.ts";
import { makeDatabase } from "../databases.ts";
import { makeHome, toLines } from "../home.ts";
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

/** What is in a home, also as the bytes of its files. */
type Contents = { files?: Record<string, string | Buffer>; databases?: Record<string, Tables> };

/** The home of a sample that is one log. */
export const toHome = ({ lines, document, path, others, count }: Sample): Home => ({
  files: {
    ...others,
    [path]: document ? document(lines.map((line) => JSON.stringify(line))) : toLines(...lines),
  },
  count: () => count(lines),
});

/** Writes a home for the current test. */
export async function writeHome(home: Home): Promise<Host> {
  const host = await makeHome();
  fillHome(host, home);
  return host;
}

/** Writes what is in a home. */
export function fillHome({ home }: Host, { files = {}, databases = {} }: Contents): void {
  for (const [path, tables] of Object.entries(databases)) fillDatabase(join(home, path), tables).close();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), withHome(content, home));
  }
}

/**
 * A home for the current test that takes one shape after another in place: making and removing all of its folders for each
 * takes several times as long as reading them.
 */
export async function changingHome(): Promise<{ host: Host; become(home: Contents): void }> {
  const host = await makeHome();
  const files = new Map<string, string | Buffer>();
  const databases = new Map<string, DatabaseSync>();
  onTestFinished(() => {
    for (const database of databases.values()) database.close();
  });
  let changes = 0;
  /** Clocks of file systems are too coarse to tell two changes from each other, and the client goes by them. */
  const touch = (path: string) => utimesSync(path, 1_790_000_000 + ++changes, 1_790_000_000 + changes);
  const write = (path: string, content: string | Buffer) => {
    if (files.get(path) === content) return;
    if (!files.has(path)) mkdirSync(dirname(join(host.home, path)), { recursive: true });
    files.set(path, content);
    writeFileSync(join(host.home, path), withHome(content, host.home));
    touch(join(host.home, path));
  };
  return {
    host,
    become(home) {
      for (const [path, tables] of Object.entries(home.databases ?? {})) {
        const whole = join(host.home, path);
        // It stays open, as that of a running agent: its log is one file all the time.
        const database = databases.get(path) ?? makeDatabase(whole, "");
        databases.set(path, database);
        fill(database, tables);
        touch(`${whole}-wal`);
      }
      for (const [path, content] of Object.entries(home.files ?? {})) write(path, content);
    },
  };
}

const withHome = (content: string | Buffer, home: string) =>
  typeof content === "string"
    ? content.replaceAll("$HOME", home)
    : Buffer.from(content.toString("latin1").replaceAll("$HOME", home), "latin1");

/** A database with these rows. The caller closes it. */
export function fillDatabase(path: string, tables: Tables): DatabaseSync {
  const database = makeDatabase(path, "");
  fill(database, tables);
  return database;
}

/** Makes these rows all that a database has. */
function fill(database: DatabaseSync, tables: Tables): void {
  const before = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  database.exec(["BEGIN", ...before.map(({ name }) => `DROP TABLE ${name}`)].join(";"));
  for (const [table, rows] of Object.entries(tables)) {
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    database.exec(`CREATE TABLE ${table} (${columns.join(", ")})`);
    for (const row of rows) {
      const names = Object.keys(row);
      database
        .prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`)
        .run(...Object.values(row));
    }
  }
  database.exec("COMMIT");
}
