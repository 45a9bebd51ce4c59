import type { DatabaseSync } from "node:sqlite";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Input, Sink } from "../adapter.ts";
import { SessionBuilder } from "../session-builder.ts";
import { hasColumn, makeInputPath, readColumnText, readJsonList, selectBounded } from "../sqlite.ts";
import { addUsage, readTokens, type Usage } from "../usage.ts";
import { asFields, asString } from "../values.ts";
import { readContent, source, toTime } from "./messages.ts";

export function listSessions(path: string, database: DatabaseSync): Input[] {
  const ledger = hasColumn(database, "usage_ledger", "session_id")
    ? "(SELECT count(*) || '/' || coalesce(max(id), 0) FROM usage_ledger WHERE session_id = sessions.id)"
    : "''";
  const rows = database
    .prepare(
      `SELECT sessions.id, updated_at AS changed, found.*, ${ledger} AS used
      FROM sessions JOIN (
        SELECT session_id, count(*) AS messages, max(id) AS latest, max(created_timestamp) AS at,
          sum(octet_length(content_json)) AS bytes
        FROM messages GROUP BY session_id
      ) AS found ON found.session_id = sessions.id ORDER BY sessions.id`,
    )
    .all();
  return rows.map((row) => ({
    path: makeInputPath(path, String(row.id)),
    bytes: Number(row.bytes),
    modifiedAt: Number(toTime(row.at)) || 0,
    stamp: [row.changed, row.messages, row.latest, row.bytes, row.used].join(":"),
  }));
}

type Request = { at: number; model: unknown; usage: Usage; costUsd: number };

export async function readSession(database: DatabaseSync, id: string, sink: Sink): Promise<void> {
  sink.entry();
  const row = database.prepare("SELECT * FROM sessions WHERE id = ?").get(id);
  if (!row) return;
  sink.skipped();
  const session = new SessionBuilder(sink, source, id);
  const model = noteDetails(session, row);
  const requests = readRequests(database, id);
  if (requests.length === 0) session.addUsage(readTotal(row));
  const index = database
    .prepare(
      "SELECT id, role, created_timestamp AS at FROM messages WHERE session_id = ? ORDER BY created_timestamp, id",
    )
    .all(id);
  const answers = index.flatMap(({ role, at }) => (role === "assistant" ? [Number(toTime(at))] : []));
  const metadata = hasColumn(database, "messages", "metadata_json") ? "metadata_json" : "NULL";
  const read = database.prepare(
    `SELECT role, ${selectBounded("content_json", "content")}, ${metadata} AS metadata FROM messages WHERE id = ?`,
  );
  for (const entry of index) {
    sink.entry();
    const message = read.get(entry.id ?? null);
    if (!message) continue;
    const isAnswer = message.role === "assistant";
    if (isAnswer) answers.shift();
    // The tokens are written once an answer is complete, before the next one begins.
    const used = isAnswer ? takeUntil(requests, answers[0] ?? Number.POSITIVE_INFINITY) : [];
    const messages = readMessages(message, `message ${entry.id}`, sink);
    session.send(messages, {
      at: toTime(entry.at),
      ...(isAnswer && { model: asString(used.at(-1)?.model) ?? model }),
      ...(used.length > 0 && {
        usage: used.map(({ usage }) => usage).reduce(addUsage),
        costUsd: used.reduce((sum, { costUsd }) => sum + costUsd, 0),
      }),
    });
    await sink.pause();
  }
  for (const { usage } of requests) session.addUsage(usage);
  session.end();
}

function noteDetails(session: SessionBuilder, row: Fields): string | undefined {
  session.noteTitle(asString(row.name)?.trim() || asString(row.description)?.trim());
  session.noteFolder(row.working_dir);
  session.noteTime(toTime(row.created_at));
  session.note("parent", row.parent_session_id);
  const config = parseJson(asString(row.model_config_json) ?? "");
  return asString(asFields(config).model_name);
}

function readMessages(row: Fields, label: string, sink: Sink) {
  const content = readJsonList(row, "content", label, sink);
  if (!content) return [];
  const metadata = parseJson(readColumnText(row.metadata) ?? "");
  const isHidden = isFields(metadata) && metadata.userVisible === false;
  const messages = readContent(row.role, content, isHidden, (type) => sink.unhandled(type));
  if (messages.length === 0) sink.skipped();
  return messages;
}

function readRequests(database: DatabaseSync, id: string): Request[] {
  if (!hasColumn(database, "usage_ledger", "session_id")) return [];
  const rows = database
    .prepare("SELECT * FROM usage_ledger WHERE session_id = ? ORDER BY created_timestamp, id")
    .all(id);
  return rows.map((row) => ({
    at: Number(toTime(row.created_timestamp)) || 0,
    model: row.model,
    usage: readUsage(row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens),
    costUsd: typeof row.cost === "number" && row.cost > 0 ? row.cost : 0,
  }));
}

const readTotal = (row: Fields): Usage =>
  readUsage(
    row.accumulated_input_tokens,
    row.accumulated_output_tokens,
    row.accumulated_cache_read_tokens,
    row.accumulated_cache_write_tokens,
  );

export function readUsage(input: unknown, output: unknown, read?: unknown, write?: unknown): Usage {
  const reported = { inputTokens: input, outputTokens: output, cacheReadTokens: read, cacheWriteTokens: write };
  return readTokens(reported, { includesCache: true });
}

function takeUntil(requests: Request[], end: number): Request[] {
  const next = requests.findIndex(({ at }) => at >= end);
  return requests.splice(0, next === -1 ? requests.length : next);
}
