import type { DatabaseSync } from "node:sqlite";
import zlib from "node:zlib";
import { maxDecompressed } from "../../files/byte-reader.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Input, Sink } from "../adapter.ts";
import { makeNotice } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { hasColumn, makeInputPath, selectBounded } from "../sqlite.ts";
import { readAnthropicTokens, subtractUsage, type Usage } from "../usage.ts";
import { asFields, asString, listFields } from "../values.ts";
import { readAgentMessages, readOlderMessages, readUserMessages, readVariant, source } from "./messages.ts";

/** A thread is one value of JSON, mostly compressed to a tenth. */
const [fewJsonBytes, maxJsonBytes] = [1024 * 1024, 64 * 1024 * 1024];

export function listThreads(path: string, database: DatabaseSync): Input[] {
  const rows = database
    .prepare(
      "SELECT id, rowid AS row, updated_at AS changed, octet_length(data) AS bytes, summary FROM threads ORDER BY id",
    )
    .all();
  return rows.map(({ id, row, changed, bytes, summary }) => ({
    path: makeInputPath(path, String(id)),
    bytes: Number(bytes),
    modifiedAt: Date.parse(String(changed)) || 0,
    stamp: [row, changed, bytes, summary].join(":"),
  }));
}

export async function readThread(database: DatabaseSync, id: string, sink: Sink): Promise<void> {
  sink.entry();
  const optional = ["parent_id", "folder_paths", "created_at"].map((name) =>
    hasColumn(database, "threads", name) ? name : `NULL AS ${name}`,
  );
  const row = database.prepare(`SELECT summary, ${optional.join(", ")}, updated_at FROM threads WHERE id = ?`).get(id);
  if (!row) return;
  const session = new SessionBuilder(sink, source, id);
  session.noteFolder(getFirstFolder(row.folder_paths));
  const stored = database.prepare(`SELECT data_type, ${selectBounded("data")} FROM threads WHERE id = ?`).get(id);
  const thread = stored && decode(stored, id, sink);
  if (!thread) return;
  sink.skipped();
  noteDetails(session, row, thread);
  const requests = new Map(listUsages(thread.request_token_usage));
  let usage: Usage | undefined;
  for (const message of Array.isArray(thread.messages) ? thread.messages : []) {
    sink.entry();
    const [kind, value] = isFields(message) && typeof message.role === "string" ? [] : readVariant(message);
    const fields = asFields(value);
    if (kind === "User") {
      const key = asString(fields.id) ?? "";
      usage = requests.get(key);
      requests.delete(key);
    }
    const messages = readMessages(kind, kind === undefined ? message : fields, sink);
    const isAnswer = messages.some(({ role }) => role === "assistant");
    session.add(messages, {
      ...(isAnswer && { model: asFields(thread.model).model, usage }),
      uuid: fields.id,
    });
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
      return readOlderMessages(message, unhandled);
    case "User":
      return readUserMessages(message.content, unhandled);
    case "Agent":
      return readAgentMessages(message, unhandled);
    case "Resume":
      return [];
    case "Compaction":
      return [makeNotice(asString(message.summary) ?? "The conversation so far was compacted.", "user")];
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
  const text = decompress(bytes, type, sink);
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

function decompress(bytes: Buffer, type: unknown, sink: Sink): string | undefined | typeof tooLarge {
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
  const snapshot = asFields(thread.initial_project_snapshot);
  session.noteTime(snapshot.timestamp);
  const [worktree] = listFields(snapshot.worktree_snapshots);
  if (!worktree) return;
  session.noteFolder(worktree.worktree_path);
  const git = asFields(worktree.git_state);
  session.note("branch", git.current_branch);
  session.noteRepository(git.remote_url);
}

function getFirstFolder(paths: unknown): string | undefined {
  const text = asString(paths)?.trim();
  const list = text?.startsWith("[") ? parseJson(text) : text?.split(/[\n\0]/);
  return Array.isArray(list) ? asString(list[0]) : undefined;
}

function listUsages(requests: unknown): [string, Usage][] {
  return Object.entries(asFields(requests)).map(([id, usage]) => [id, readAnthropicTokens(asFields(usage))]);
}

function addRest(session: SessionBuilder, thread: Fields): void {
  const total = readAnthropicTokens(asFields(thread.cumulative_token_usage));
  const named = listUsages(thread.request_token_usage).map(([, usage]) => usage);
  session.addUsage(named.reduce(subtractUsage, total));
}
