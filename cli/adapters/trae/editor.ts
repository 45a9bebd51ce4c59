// Older versions of the editor kept conversations in the database of settings.
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { listFolder } from "../../files/discovery.ts";
import { type Fields, isFields } from "../../files/json.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Host, Input, Message, Sink } from "../adapter.ts";
import { parseFolderUrl } from "../cursor/places.ts";
import { getProgramFolder } from "../search-roots.ts";
import { SessionBuilder } from "../session-builder.ts";
import { findSessions, makeInputPath, readDatabase, readJsonColumn, selectBounded, splitInputPath } from "../sqlite.ts";
import { asCount, asString, toMilliseconds } from "../values.ts";

const key = "memento/icube-ai-agent-storage";

export const traeEditors = ["Trae", "Trae CN", "TRAE SOLO CN"];

export const getUserFolders = (host: Host): string[] =>
  traeEditors.map((name) => join(getProgramFolder(host), name, "User"));

export async function* findConversations(host: Host): AsyncGenerator<Input> {
  for (const user of getUserFolders(host)) {
    const workspaces = await listFolder(join(user, "workspaceStorage"));
    const folders = workspaces.filter((entry) => entry.isDirectory()).map(({ name }) => join("workspaceStorage", name));
    for (const folder of ["globalStorage", ...folders]) {
      const database = join(user, folder, "state.vscdb");
      yield* await findSessions(database, listConversations);
    }
  }
}

function listConversations(path: string, database: DatabaseSync): Input[] {
  return readList(database).map((session) => {
    const text = JSON.stringify(session);
    return {
      path: makeInputPath(path, String(session.sessionId)),
      bytes: text.length,
      modifiedAt: asCount(session.updatedAt) ?? 0,
      stamp: createHash("sha256").update(text).digest("base64url"),
    };
  });
}

function readList(database: DatabaseSync, sink?: Sink): Fields[] {
  const row = database.prepare(`SELECT ${selectBounded("value")} FROM ItemTable WHERE key = ?`).get(key);
  if (!row) return [];
  const counts = sink ?? { lost() {}, invalid() {} };
  const store = readJsonColumn(row, "value", "the list of conversations", counts as Sink);
  const list = Array.isArray(store?.list) ? store.list : [];
  return list.filter(isFields).filter(({ sessionId }) => asString(sessionId) !== undefined);
}

export async function readConversation(path: string, source: string, sink: Sink): Promise<void> {
  const { database: file } = splitInputPath(path);
  const workspace = await readJsonFile(join(dirname(file), "workspace.json"));
  const folder = isFields(workspace) ? parseFolderUrl(workspace.folder) : undefined;
  await readDatabase(path, sink, listConversations, async (database, id) => {
    const found = readList(database, sink).find(({ sessionId }) => sessionId === id);
    if (found) readSession(found, new SessionBuilder(sink, source, id), folder, sink);
  });
}

function readSession(session: Fields, builder: SessionBuilder, folder: string | undefined, sink: Sink): void {
  builder.noteFolder(folder);
  builder.noteTime(toMilliseconds(session.createdAt));
  builder.noteModel(session.model);
  for (const entry of Array.isArray(session.messages) ? session.messages : []) {
    sink.entry();
    const messages = isFields(entry) ? readMessages(entry, sink) : undefined;
    if (!messages) sink.invalid("not a message");
    else if (messages.length === 0) sink.skipped();
    else if (isFields(entry)) builder.send(messages, { at: toMilliseconds(entry.timestamp), model: entry.model });
  }
  builder.end();
}

function readMessages({ role, content, agentTaskContent }: Fields, sink: Sink): Message[] {
  const name = asString(role)?.toLowerCase() ?? "(none)";
  if (name !== "user" && name !== "assistant") {
    sink.unhandled(`role.${name}`);
    return [];
  }
  const text = asString(content)?.trim() || (name === "assistant" ? readTaskText(agentTaskContent) : "");
  return text === "" ? [] : [{ role: name, content: text }];
}

function readTaskText(task: unknown): string {
  if (!isFields(task)) return asString(task) ?? "";
  const said = asString(task.content) ?? asString(task.text) ?? asString(task.proposal);
  const items = isFields(task.guideline) && Array.isArray(task.guideline.planItems) ? task.guideline.planItems : [];
  return said ?? items.flatMap((item) => (isFields(item) ? (asString(item.content) ?? []) : [])).join("\n");
}
