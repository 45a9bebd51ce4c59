import type { DatabaseSync } from "node:sqlite";
import zlib from "node:zlib";
import { maxDecompressed } from "../../files/byte-reader.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Input, Sink } from "../adapter.ts";
import { notice } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { boundedColumn, hasColumn, inputPath } from "../sqlite.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";
import { agentMessages, legacyMessages, readVariant, userMessages } from "./messages.ts";
import { source } from "./source.ts";

/** A thread is one value of JSON, mostly compressed to a tenth. */
const [fewJsonBytes, maxJsonBytes] = [1024 * 1024, 64 * 1024 * 1024];

/** The threads of a database. */
export function listThreads(path: string, database: DatabaseSync): Input[] {
  const rows = database
    .prepare(
      "SELECT id, rowid AS row, updated_at AS changed, octet_length(data) AS bytes, summary FROM threads ORDER BY id",
    )
    .all();
  return rows.map(({ id, row, changed, bytes, summary }) => ({
    path: inputPath(path, String(id)),
    bytes: Number(bytes),
    modifiedAt: Date.parse(String(changed)) || 0,
    stamp: [row, changed, bytes, summary].join(":"),
  }));
}

/** Reads one thread. */
export async function readThread(database: DatabaseSync, id: string, sink: Sink): Promise<void> {
  sink.entry();
  const optional = ["parent_id", "folder_paths", "created_at"].map((name) =>
    hasColumn(database, "threads", name) ? name : `NULL AS ${name}`,
  );
  const row = database.prepare(`SELECT summary, ${optional.join(", ")}, updated_at FROM threads WHERE id = ?`).get(id);
  if (!row) return;
  const session = new SessionBuilder(sink, source, id);
  session.noteFolder(firstFolder(row.folder_paths));
  const stored = database.prepare(`SELECT data_type, ${boundedColumn("data")} FROM threads WHERE id = ?`).get(id);
  const thread = stored && decode(stored, id, sink);
  if (!thread) return;
  sink.skipped();
  noteDetails(session, row, thread);
  const requests = new Map(usagesIn(thread.request_token_usage));
  let usage: Usage | undefined;
  for (const message of Array.isArray(thread.messages) ? thread.messages : []) {
    sink.entry();
    const [kind, value] = isFields(message) && typeof message.role === "string" ? [] : readVariant(message);
    const fields = isFields(value) ? value : {};
    if (kind === "User") {
      const key = asString(fields.id) ?? "";
      usage = requests.get(key);
      requests.delete(key);
    }
    const messages = readMessages(kind, kind === undefined ? message : fields, sink);
    if (messages.length === 0) sink.skipped();
    const isAnswer = messages.some(({ role }) => role === "assistant");
    session.send(messages, {
      ...(isAnswer && { model: isFields(thread.model) ? thread.model.model : undefined, usage }),
      uuid: fields.id,
    });
    // The tokens of a question stand with its first answer.
    if (isAnswer) usage = undefined;
    await sink.pause();
  }
  addRest(session, thread);
  session.end();
}

function readMessages(kind: string | undefined, message: Fields, sink: Sink) {
  const unhandled = (type: string) => sink.unhandled(type);
  switch (kind) {
    case undefined:
      return legacyMessages(message, unhandled);
    case "User":
      return userMessages(message.content, unhandled);
    case "Agent":
      return agentMessages(message, unhandled);
    case "Resume": // the user let the agent go on
      return [];
    case "Compaction":
      return [notice(asString(message.summary) ?? "The conversation so far was compacted.", "user")];
    default:
      unhandled(`message.${kind}`);
      return [];
  }
}

function decode(row: Fields, id: string, sink: Sink): Fields | undefined {
  const { data, data_type: type } = row;
  const bytes =
    typeof data === "string" ? Buffer.from(data) : data instanceof Uint8Array ? Buffer.from(data) : undefined;
  if (!bytes) {
    sink.lost(`thread ${id} is too large`);
    return undefined;
  }
  if (type === "zstd" && typeof zlib.zstdDecompressSync !== "function") {
    sink.lost(`compressed threads need Node 22.15 or later; this is Node ${process.versions.node}`);
    return undefined;
  }
  const text = textIn(bytes, type, sink);
  if (text === tooLarge) {
    sink.lost(`thread ${id} is compressed, and would be too large`);
    return undefined;
  }
  const value = parseJson(text ?? "");
  if (isFields(value)) return value;
  sink.invalid(`thread ${id} is not a JSON object`);
  return undefined;
}

const tooLarge = Symbol("too large");

function textIn(bytes: Buffer, type: unknown, sink: Sink): string | undefined | typeof tooLarge {
  if (type !== "zstd") {
    if (type !== "json" && type !== "" && type !== null) sink.unhandled(`data_type.${String(type).slice(0, 64)}`);
    return bytes.toString("utf8");
  }
  try {
    const maxOutputLength = maxDecompressed(bytes.length, fewJsonBytes, maxJsonBytes);
    return zlib.zstdDecompressSync(bytes, { maxOutputLength }).toString("utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? tooLarge : undefined;
  }
}

function noteDetails(session: SessionBuilder, row: Fields, thread: Fields): void {
  const title = asString(row.summary) ?? asString(thread.title);
  if (title && !/^New (?:Agent )?Thread$/.test(title)) session.noteTitle(title);
  session.note("parent", row.parent_id);
  session.noteTime(row.created_at ?? row.updated_at);
  const snapshot = isFields(thread.initial_project_snapshot) ? thread.initial_project_snapshot : {};
  session.noteTime(snapshot.timestamp);
  const [worktree] = (Array.isArray(snapshot.worktree_snapshots) ? snapshot.worktree_snapshots : []).filter(isFields);
  if (!worktree) return;
  session.noteFolder(worktree.worktree_path);
  const git = isFields(worktree.git_state) ? worktree.git_state : {};
  session.note("branch", git.current_branch);
  session.noteRepository(git.remote_url);
}

/** The first of the folders: one in each line, or a list. */
function firstFolder(paths: unknown): string | undefined {
  const text = asString(paths)?.trim();
  const list = text?.startsWith("[") ? parseJson(text) : text?.split(/[\n\0]/);
  return Array.isArray(list) ? asString(list[0]) : undefined;
}

/** The tokens of each question, by its id; older versions have a list. */
function usagesIn(requests: unknown): [string, Usage][] {
  return Object.entries(isFields(requests) ? requests : {}).map(([id, usage]) => [id, readUsage(usage)]);
}

function readUsage(value: unknown): Usage {
  const usage = isFields(value) ? value : {};
  return {
    inputTokens: asCount(usage.input_tokens) ?? 0,
    outputTokens: asCount(usage.output_tokens) ?? 0,
    cacheReadTokens: asCount(usage.cache_read_input_tokens) ?? 0,
    cacheWriteTokens: asCount(usage.cache_creation_input_tokens) ?? 0,
  };
}

/** Adds what the thread used in all beside the tokens that its questions name. */
function addRest(session: SessionBuilder, thread: Fields): void {
  const rest = readUsage(thread.cumulative_token_usage);
  for (const [, usage] of usagesIn(thread.request_token_usage)) {
    for (const [name, count] of Object.entries(usage) as [keyof Usage, number][])
      rest[name] = (rest[name] ?? 0) - count;
  }
  session.addUsage(Object.fromEntries(Object.entries(rest).map(([name, count]) => [name, Math.max(0, count)])));
}
