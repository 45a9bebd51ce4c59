import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { writeBelow } from "./home.ts";
import { world } from "./world.ts";

const withoutSqlite = { NODE_OPTIONS: "--import=data:text/javascript,process.getBuiltinModule=undefined" };
const session = `CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT, revert TEXT,
    time_created INTEGER, time_updated INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  INSERT INTO session VALUES ('ses_a', NULL, '/code/api', 'Listing', '1.2.0', NULL, 1, 1);
  INSERT INTO message VALUES ('msg_a', 'ses_a', 1, 1, '{"role":"user"}');
  INSERT INTO part VALUES ('prt_a', 'msg_a', 'ses_a', 1, 1, '{"type":"text","text":"Hi"}')`;

test("what this Node can't read is told once, not at each push, and is read by a newer one", async () => {
  const { home, spawn } = await world(1);
  const folder = ".local/share/opencode";
  await writeBelow(home, `${folder}/log/x.log`, "");
  const database = new DatabaseSync(join(home, folder, "opencode.db"));
  database.exec(session);
  const push = async (environment?: Record<string, string>) => {
    const { code, output } = await spawn(["push", "--json"], environment);
    const { left, sent } = JSON.parse(output) as { left: { reason: string }[]; sent: { sessions: number } };
    return { code, left: left.map(({ reason }) => reason), sent: sent.sessions };
  };
  const needed = [expect.stringContaining("SQLite databases need Node 22.13 or later")];
  expect(await push(withoutSqlite)).toEqual({ code: 5, left: needed, sent: 1 });
  database.exec("UPDATE part SET time_updated = 2");
  expect(await push(withoutSqlite)).toEqual({ code: 0, left: [], sent: 0 });
  expect(await push()).toEqual({ code: 0, left: [], sent: 1 });
  database.close();
});
