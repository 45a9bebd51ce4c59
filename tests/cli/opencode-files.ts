import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Host } from "../../cli/adapters/adapter.ts";

export const data = ".local/share/opencode";
export const start = Date.parse("2026-11-01T10:00:00Z");
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

export type Told = { info: Record<string, unknown>; parts: Record<string, unknown>[] };

export const question = (text: string, more: object = {}): Told => ({
  info: { role: "user", time: { created: start + 1000 }, ...more },
  parts: [{ type: "text", text }],
});
export const tokens = { input: 100, output: 40, reasoning: 7, cache: { read: 300, write: 20 } };
export const answer = (parts: Record<string, unknown>[], more: object = {}): Told => ({
  info: { role: "assistant", modelID: "claude-opus-4-5", time: { created: start + 2000 }, tokens, ...more },
  parts: [{ type: "step-start" }, ...parts, { type: "step-finish", tokens, ...more }],
});
export const bash = (state: object) => ({
  type: "tool",
  callID: "c1",
  tool: "bash",
  state: { input: { command: "ls" }, ...state },
});
export const done = {
  status: "completed",
  output: "a.ts",
  metadata: { exit: 0 },
  time: { start: start + 3000, end: start + 3250 },
};

export const talk = [
  question("List."),
  answer([{ type: "reasoning", text: "ls.", time: { start: start + 2500 } }, bash(done)]),
];

/** A session as files by their paths below the home folder. */
export function files(id: string, messages: Told[], about: object = {}): Record<string, string> {
  const session = {
    id,
    directory: "/code/api",
    title: "Listing",
    version: "1.1.0",
    time: { created: start },
    ...about,
  };
  const written: Record<string, string> = { [`${data}/storage/session/p1/${id}.json`]: JSON.stringify(session) };
  for (const [m, { info, parts }] of messages.entries()) {
    const name = `msg_${id.slice(4)}_${m}`;
    written[`${data}/storage/message/${id}/${name}.json`] = JSON.stringify({ id: name, sessionID: id, ...info });
    for (const [p, part] of parts.entries()) {
      written[`${data}/storage/part/${name}/prt_${p}.json`] = JSON.stringify({
        id: `prt_${p}`,
        messageID: name,
        ...part,
      });
    }
  }
  return written;
}

/** The files of another program that keeps them as OpenCode does. */
export const placedFor = (name: string, written: Record<string, string>) =>
  Object.fromEntries(Object.entries(written).map(([path, text]) => [path.replace("opencode", name), text]));

/** A database with sessions, as its program writes them. */
export function database(host: Host, sessions: Record<string, Told[]>, name = "opencode.db"): DatabaseSync {
  const db = new DatabaseSync(join(host.home, data, name));
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT, revert TEXT,
      time_created INTEGER, time_updated INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
      data TEXT);`);
  for (const [id, messages] of Object.entries(sessions)) {
    db.prepare("INSERT INTO session VALUES (?, NULL, '/code/api', 'Listing', '1.2.0', NULL, ?, ?)").run(
      id,
      start,
      start,
    );
    for (const [m, { info, parts }] of messages.entries()) {
      const message = `msg_${id.slice(4)}_${m}`;
      db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)").run(message, id, start + m, start, JSON.stringify(info));
      for (const [p, part] of parts.entries()) {
        const row = [`prt_${message}_${p}`, message, id, start, start, JSON.stringify(part)];
        db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)").run(...row);
      }
    }
  }
  return db;
}
