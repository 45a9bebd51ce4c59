import type { DatabaseSync } from "node:sqlite";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Input, Sink } from "../adapter.ts";
import { makeNotice } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { hasColumn, makeInputPath } from "../sqlite.ts";
import { asFields, asString } from "../values.ts";
import { readAssistant, readUser } from "./conversation.ts";

/** SQLite splits the JSON of a conversation, so that only its parts become objects here. */
const maxMiB = 64;

const isSmall = `octet_length(value) <= ${maxMiB * 1024 * 1024}`;
const isReadable = `${isSmall} AND json_valid(value)`;

const tables = ["conversations_v2", "conversations"] as const;

export function listConversations(path: string, database: DatabaseSync): Input[] {
  const inputs = new Map<string, Input>();
  for (const table of tables) {
    if (!hasColumn(database, table, "value")) continue;
    const isNew = table === "conversations_v2";
    const rows = database
      .prepare(
        `SELECT ${isNew ? "conversation_id AS id, updated_at AS changed" : "key AS id, NULL AS changed"}, rowid AS row,
          octet_length(value) AS bytes, CASE WHEN ${isReadable} THEN json_extract(value, '$.conversation_id') END AS named,
          CASE WHEN ${isReadable} THEN json_extract(value, '$.history[#-1].request_metadata.stream_end_timestamp_ms') END AS at
        FROM ${table} ORDER BY ${isNew ? "updated_at DESC, key" : "key"}`,
      )
      .all();
    for (const row of rows) {
      const id = String(row.id);
      // A conversation may be in several folders; its newest row counts.
      if (inputs.has(id) || (!isNew && inputs.has(String(row.named)))) continue;
      const stamp = [row.row, row.bytes, row.changed, row.at].join(":");
      const modifiedAt = Number(row.changed ?? row.at ?? 0);
      inputs.set(id, { path: makeInputPath(path, id), bytes: Number(row.bytes), modifiedAt, stamp });
    }
  }
  return [...inputs.values()];
}

export async function readConversation(database: DatabaseSync, id: string, source: string, sink: Sink): Promise<void> {
  sink.entry();
  const found = findRow(database, id);
  if (!found) return;
  const { table, row } = found;
  if (!row.small) return sink.lost(`the conversation is larger than ${maxMiB} MiB`);
  if (!row.readable) return sink.invalid(`conversation ${id} is not JSON`);
  sink.skipped();
  const session = new SessionBuilder(sink, source, asString(row.named) ?? id);
  session.noteFolder(row.key);
  for (const time of [row.created, row.changed]) session.noteTime(time);
  const summary = asString(row.summary);
  if (summary) session.send([makeNotice(summary, "user")]);
  const history = database
    .prepare(
      `SELECT json_each.value AS entry FROM ${table} AS one, json_each(one.value, '$.history') WHERE one.rowid = ?`,
    )
    .iterate(Number(row.id));
  for (const { entry } of history) {
    sink.entry();
    const fields = parseJson(asString(entry) ?? "");
    if (isFields(fields)) addEntry(session, fields, asString(row.model), sink);
    else sink.invalid("an entry of the history is not a JSON object");
  }
  session.end();
  await sink.pause();
}

function findRow(database: DatabaseSync, id: string): { table: string; row: Fields } | undefined {
  for (const table of tables) {
    if (!hasColumn(database, table, "value")) continue;
    const isNew = table === "conversations_v2";
    const own = isNew ? "created_at AS created, updated_at AS changed" : "NULL AS created, NULL AS changed";
    const row = database
      .prepare(
        `SELECT rowid AS id, key, ${isSmall} AS small, ${isReadable} AS readable, ${own},
          CASE WHEN ${isReadable} THEN json_extract(value, '$.conversation_id') END AS named,
          CASE WHEN ${isReadable} THEN json_extract(value, '$.latest_summary[0]') END AS summary,
          CASE WHEN ${isReadable} THEN coalesce(json_extract(value, '$.model_info.model_id'), json_extract(value, '$.model')) END
            AS model
        FROM ${table} WHERE ${isNew ? "conversation_id = ? ORDER BY updated_at DESC, key" : "key = ?"} LIMIT 1`,
      )
      .get(id);
    if (row) return { table, row };
  }
  return undefined;
}

function addEntry(session: SessionBuilder, entry: Fields, model: string | undefined, sink: Sink): void {
  const unhandled = (type: string) => sink.unhandled(type);
  const user = asFields(entry.user);
  const request = asFields(entry.request_metadata);
  const asked = readUser(user, unhandled);
  const answered = readAssistant(entry.assistant, unhandled);
  if (asked.length + answered.length === 0) sink.skipped();
  session.send(asked, { at: user.timestamp ?? request.request_start_timestamp_ms });
  session.send(answered, {
    at: request.stream_end_timestamp_ms,
    model: asString(request.model_id) ?? model,
    requestId: request.request_id,
  });
}
