import type { DatabaseSync } from "node:sqlite";
import { type Fields, isFields } from "../../files/json.ts";
import type { Input, Sink } from "../adapter.ts";
import { SessionBuilder } from "../session-builder.ts";
import { hasColumn, makeInputPath, readJsonList, selectBounded } from "../sqlite.ts";
import { asFields, asString, toMilliseconds } from "../values.ts";
import { type PartFacts, readPart } from "./message-parts.ts";

export const source = "crush";

export function listSessions(path: string, database: DatabaseSync): Input[] {
  const rows = database
    .prepare(
      `SELECT sessions.id, title, found.* FROM sessions JOIN (
        SELECT session_id, count(*) AS messages, max(rowid) AS latest, max(updated_at) AS changed,
          sum(octet_length(parts)) AS bytes
        FROM messages GROUP BY session_id
      ) AS found ON found.session_id = sessions.id ORDER BY sessions.id`,
    )
    .all();
  return rows.map(({ id, title, messages, latest, changed, bytes }) => ({
    path: makeInputPath(path, String(id)),
    bytes: Number(bytes),
    modifiedAt: Number(toMilliseconds(changed)) || 0,
    stamp: [messages, latest, changed, bytes, title].join(":"),
  }));
}

export async function readSession(
  database: DatabaseSync,
  id: string,
  folder: string | undefined,
  sink: Sink,
): Promise<void> {
  sink.entry();
  const row = database.prepare("SELECT * FROM sessions WHERE id = ?").get(id);
  if (!row) return;
  const session = new SessionBuilder(sink, source, id);
  session.noteFolder(folder);
  sink.skipped();
  if (!/^(?:New|Untitled) Session$/i.test(String(row.title))) session.noteTitle(row.title);
  session.note("parent", row.parent_session_id);
  session.noteTime(toMilliseconds(row.created_at));
  const index = database
    .prepare("SELECT rowid AS row FROM messages WHERE session_id = ? ORDER BY created_at, rowid")
    .all(id);
  const summary = hasColumn(database, "messages", "is_summary_message") ? "is_summary_message" : "0";
  const read = database.prepare(
    `SELECT id, role, model, created_at, ${summary} AS summary, ${selectBounded("parts")} FROM messages WHERE rowid = ?`,
  );
  const child = database.prepare("SELECT 1 FROM sessions WHERE id = ?");
  const callers = new Map<string, string>();
  const findSession = (callId: string) => {
    const name = `${callers.get(callId)}$$${callId}`;
    return child.get(name) ? name : undefined;
  };
  for (const entry of index) {
    sink.entry();
    const message = read.get(entry.row ?? null);
    if (message) addMessage(session, message, { callers, findSession }, sink);
    await sink.pause();
  }
  session.end();
}

type CallLookup = { callers: Map<string, string>; findSession: PartFacts["findSession"] };

function addMessage(session: SessionBuilder, row: Fields, { callers, findSession }: CallLookup, sink: Sink): void {
  const role = asString(row.role) ?? "(none)";
  const parts = readJsonList(row, "parts", `message ${row.id}`, sink)?.filter(isFields);
  if (!parts) return;
  if (!["user", "assistant", "system", "tool"].includes(role)) {
    sink.unhandled(`role.${role}`);
    return;
  }
  for (const { type, data } of parts)
    if (type === "tool_call" && isFields(data) && asString(data.id)) callers.set(String(data.id), String(row.id));
  const facts = { id: String(row.id), role, isSummary: row.summary === 1, findSession };
  const messages = parts.flatMap((part) => readPart(part, facts, (type) => sink.unhandled(type)));
  const finish = parts.find(({ type }) => type === "finish")?.data;
  session.add(messages, {
    at: toMilliseconds(row.created_at),
    uuid: row.id,
    ...(role === "assistant" && { model: row.model, stopReason: asFields(finish).reason }),
  });
}
