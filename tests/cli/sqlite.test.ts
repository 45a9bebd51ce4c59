import { appendFileSync, closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Input, Sink } from "../../cli/adapters/adapter.ts";
import { goose } from "../../cli/adapters/goose/adapter.ts";
import { findSessions, makeInputPath, splitInputPath } from "../../cli/adapters/sqlite.ts";
import { maxWholeBytes } from "../../cli/files/line-reader.ts";
import { makeDatabase } from "./databases.ts";
import { discoverAll, makeHome, parseAll } from "./home.ts";

const folder = ".local/share/goose/sessions";
const schema = `
  CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT NOT NULL, created_at TEXT, updated_at TEXT);
  CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);`;

/** A home with Goose's database of `sessions` sessions, of three messages each. */
async function home(sessions = 3) {
  const host = await makeHome();
  const path = join(host.home, folder, "sessions.db");
  const db = makeDatabase(path, schema);
  for (let number = 1; number <= sessions; number++) {
    db.prepare("INSERT INTO sessions VALUES (?, 'n', '/code/api', '2026-11-01 10:00:00', '')").run(`s${number}`);
    for (let at = 0; at < 3; at++) {
      const content = JSON.stringify([{ type: "text", text: "x".repeat(3000) }]);
      db.prepare("INSERT INTO messages VALUES (NULL, ?, 'user', ?, ?)").run(`s${number}`, content, 1_793_527_200 + at);
    }
  }
  return { host, path, db };
}

const silent = {
  lost() {},
  entry() {},
  skipped() {},
  folder() {},
  begin() {},
  message() {},
  pause: async () => {},
} as unknown as Sink;

test("a path names the database and the session in it, also where folders or ids have the same signs", () => {
  for (const [database, id] of [
    ["/a/b.db", "s1"],
    ["/a#b/c.vscdb", "x#y.db#z"],
    ["C:\\d\\data.sqlite3", "/code/api"],
  ] as const) {
    expect(splitInputPath(makeInputPath(database, id))).toEqual({ database, id });
  }
  expect(splitInputPath("/a/b.db")).toEqual({ database: "/a/b.db" });
});

test("a database that nobody has written to since is not asked again", async () => {
  const { path, db } = await home();
  db.close();
  const list = vi.fn(() => [{ path: makeInputPath(path, "s1"), bytes: 1, modifiedAt: 1, stamp: "1" }]);
  // Opening it makes SQLite's own files, which are part of what is compared.
  await findSessions(path, list);
  await findSessions(path, list);
  list.mockClear();
  expect(await findSessions(path, list)).toHaveLength(1);
  expect(list).not.toHaveBeenCalled();
  appendFileSync(path, " ");
  await findSessions(path, list);
  expect(list).toHaveBeenCalledOnce();
});

test("a database that its agent locks is told, and read once it is free", async () => {
  const { host, path, db } = await home();
  db.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  const [input] = await discoverAll(goose, host);
  expect(input?.path).toBe(path);
  await expect(goose.parse({ ...input, path } as Input, silent)).rejects.toThrow(/locked/);
  db.exec("COMMIT");
  expect((await parseAll(goose, host)).sessions).toHaveLength(3);
  db.close();
}, 30_000);

test("a database whose pages are damaged is told, with SQLite's own words", async () => {
  const { host, path, db } = await home(40);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  const inputs = await discoverAll(goose, host);
  const file = openSync(path, "r+");
  for (let page = 3; page < 60; page++) writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, page * 4096);
  closeSync(file);
  expect(inputs).toHaveLength(40);
  await expect(goose.parse(inputs[39] as Input, silent)).rejects.toThrow(/malformed/);
  expect((await discoverAll(goose, host)).map((input) => input.path)).toEqual([path]);
});

test("a value over the limit is told by its row, and the rest of the session is read", async () => {
  const { host, db } = await home(1);
  db.prepare("UPDATE messages SET content_json = ? WHERE id = 2").run(`["${"x".repeat(maxWholeBytes)}"]`);
  const { sessions, lost } = await parseAll(goose, host);
  db.close();
  expect(sessions[0]?.messages).toHaveLength(2);
  expect(lost).toEqual(["message 2 is larger than 16 MiB"]);
});

test("a database that goes away between finding and reading is told as any file that does", async () => {
  const { host, path } = await home(1);
  const [input] = await discoverAll(goose, host);
  const gone = { ...input, path: makeInputPath(`${path}x.db`, "s1") } as Input;
  await expect(goose.parse(gone, silent)).rejects.toMatchObject({ code: "ENOENT" });
});
