import type { DatabaseSync } from "node:sqlite";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Input, Sink } from "../adapter.ts";
import { SessionBuilder } from "../session-builder.ts";
import { hasColumn, makeInputPath, selectBounded } from "../sqlite.ts";
import { readTokens } from "../usage.ts";
import { asString } from "../values.ts";
import { readMessages } from "./messages.ts";

export const source = "hermes";

export function listSessions(path: string, database: DatabaseSync): Input[] {
  const rows = database
    .prepare(
      `SELECT sessions.*, found.* FROM sessions JOIN (
        SELECT session_id, count(*) AS messages, max(id) AS latest, max(timestamp) AS changed,
          sum(coalesce(octet_length(content), 0) + coalesce(octet_length(tool_calls), 0)) AS bytes
        FROM messages GROUP BY session_id
      ) AS found ON found.session_id = sessions.id ORDER BY sessions.id`,
    )
    .all();
  return rows.map((row) => ({
    path: makeInputPath(path, String(row.id)),
    bytes: Number(row.bytes),
    modifiedAt: parseSeconds(row.changed) ?? 0,
    stamp: [row.messages, row.latest, row.bytes, row.title, row.model, row.output_tokens, row.ended_at].join(":"),
  }));
}

/** Damaged pages may contain any number of seconds. */
function parseSeconds(time: unknown): number | undefined {
  return typeof time === "number" && time > 0 && time < 100_000_000_000 ? Math.round(time * 1000) : undefined;
}

export async function readSession(database: DatabaseSync, id: string, sink: Sink): Promise<void> {
  sink.entry();
  const row = database.prepare("SELECT * FROM sessions WHERE id = ?").get(id);
  if (!row) return;
  sink.skipped();
  const session = new SessionBuilder(sink, source, id);
  noteDetails(session, row);
  const parent = findParent(database, row);
  if (parent) session.note(parent.relation, parent.id);
  const replayed = parent && parent.relation !== "parent" ? parent.id : undefined;
  const read = prepareReading(database);
  for (const entry of listRows(database, id, replayed)) {
    sink.entry();
    const message = read.get(entry.first ?? null);
    if (message) addMessage(session, { ...message, copied: entry.copied }, asString(row.model), sink);
    await sink.pause();
  }
  const usage = readTokens({
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    reasoningTokens: row.reasoning_tokens,
  });
  session.addUsage(usage);
  session.end();
}

function noteDetails(session: SessionBuilder, row: Fields): void {
  if (row.title_source !== "derived") session.noteTitle(row.title);
  session.noteFolder(asString(row.cwd) ?? row.git_repo_root);
  session.note("branch", row.git_branch);
  session.noteTime(parseSeconds(row.started_at));
}

type SessionParent = { relation: "parent" | "forkedFrom" | "continues"; id: string };

/** Undefined if the session only came after the other one in the same chat. */
function findParent(database: DatabaseSync, row: Fields): SessionParent | undefined {
  const id = asString(row.parent_session_id);
  if (!id) return undefined;
  const config = parseJson(asString(row.model_config) ?? "");
  // A continuation takes over marks that name another session.
  const marks = (mark: string) => isFields(config) && config[mark] === id;
  if (marks("_branched_from")) return { relation: "forkedFrom", id };
  if (marks("_delegate_from")) return { relation: "parent", id };
  if (marks("_reset_from")) return undefined;
  const parent = database.prepare("SELECT * FROM sessions WHERE id = ?").get(id);
  if (parent?.end_reason === "compression") return { relation: "continues", id };
  if (parent?.end_reason === "branched") return { relation: "forkedFrom", id };
  const isSameChat = asString(row.session_key) !== undefined && row.session_key === parent?.session_key;
  return isSameChat ? undefined : { relation: "parent", id };
}

const copiedColumns = ["role", "content", "timestamp", "tool_call_id", "tool_calls"];

function listRows(database: DatabaseSync, id: string, before: string | undefined) {
  const isSame = copiedColumns.map((column) => `other.${column} IS messages.${column}`).join(" AND ");
  return database
    .prepare(
      `SELECT min(id) AS first, EXISTS (
        SELECT 1 FROM messages AS other WHERE other.session_id = ? AND ${isSame}
      ) AS copied FROM messages WHERE session_id = ? GROUP BY ${copiedColumns.join(", ")} ORDER BY first`,
    )
    .all(before ?? null, id);
}

/** Content is read as bytes, because a text would end at a zero. */
function prepareReading(database: DatabaseSync) {
  const has = (column: string) => hasColumn(database, "messages", column);
  const optional = (column: string, name: string) => `${has(column) ? column : "NULL"} AS ${name}`;
  return database.prepare(
    `SELECT id, role, timestamp, tool_call_id, ${selectBounded("CAST(content AS BLOB)", "content")},
      ${selectBounded("tool_calls")}, ${optional("finish_reason", "finish_reason")},
      ${optional("reasoning", "reasoning")}, ${optional("reasoning_content", "reasoning_content")},
      ${optional("_compressed_summary", "summary")}, ${optional("display_kind", "display_kind")}
      FROM messages WHERE id = ?`,
  );
}

function addMessage(session: SessionBuilder, row: Fields, model: string | undefined, sink: Sink): void {
  const messages = readMessages(row, sink);
  const isAnswer = row.role === "assistant";
  session.add(messages, {
    at: parseSeconds(row.timestamp),
    isReplayed: row.copied === 1,
    ...(isAnswer && { model, stopReason: row.finish_reason }),
  });
}
