import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { readBeginningOrNothing } from "../../files/byte-reader.ts";
import { listFolder } from "../../files/discovery.ts";
import { type Fields, isFields } from "../../files/json.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Message, Sink, Unhandled } from "../adapter.ts";
import { joinBlockTexts } from "../blocks.ts";
import { makeNotice, makeToolCall, makeToolResult, toTexts, withTime } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { readObjectFile } from "../session-files.ts";
import { asFields, asString, joinTexts, listFields, toWords } from "../values.ts";
import { source } from "./conversation.ts";

const tools = toWords("replace create append delete readCode readFile readFiles readMultipleFiles runCommand search");
const skippedActions = toWords("model intentClassification taskStatus specAgent userInput");

/** Has the user's words whole; the model's actions are in a log for each execution. */
export async function readEditorSession(path: string, sink: Sink): Promise<void> {
  const value = await readObjectFile(path, sink);
  if (!value) return;
  sink.skipped();
  const session = new SessionBuilder(sink, source, asString(value.sessionId) ?? basename(path, ".json"));
  session.noteTitle(value.title);
  const folder = asString(value.workspaceDirectory);
  session.noteFolder(folder);
  session.noteTime(await readCreation(path, session.id));
  const logs = folder ? await findLogs(join(dirname(path), "..", ".."), folder) : new Map<string, string>();
  for (const entry of listFields(value.history)) {
    sink.entry();
    const messages = await readEntry(entry, logs, sink);
    session.add(messages);
    await sink.pause();
  }
  session.end();
}

async function readCreation(path: string, id: string): Promise<unknown> {
  const list = await readJsonFile(join(dirname(path), "sessions.json"));
  const found = (Array.isArray(list) ? list : []).find((one) => isFields(one) && one.sessionId === id);
  const time = asFields(found).dateCreated;
  return typeof time === "string" && /^\d+$/.test(time) ? Number(time) : time;
}

async function readEntry(entry: Fields, logs: Map<string, string>, sink: Sink): Promise<Message[]> {
  const unhandled = (type: string) => sink.unhandled(type);
  const message = asFields(entry.message);
  const text = joinBlockTexts(message.content, unhandled);
  if (message.role === "user") return toTexts("user", text);
  if (message.role === "tool") return [];
  if (message.role !== "assistant") {
    unhandled(`role.${asString(message.role) ?? "(none)"}`);
    return [];
  }
  const log = logs.get(asString(entry.executionId) ?? "");
  const done = log === undefined ? [] : await readExecution(log, sink);
  if (done.some(({ role }) => role === "assistant")) return done;
  const completions = listFields(entry.promptLogs).map(({ completion }) => completion);
  return [...done, ...toTexts("assistant", text.trim() ? text : joinTexts(completions, "\n\n"))];
}

async function findLogs(base: string, folder: string): Promise<Map<string, string>> {
  const project = join(base, createHash("sha256").update(folder).digest("hex").slice(0, 32));
  const logs = new Map<string, string>();
  for (const group of await listFolder(project)) {
    if (!group.isDirectory()) continue;
    for (const { name } of await listFolder(join(project, group.name))) {
      const path = join(project, group.name, name);
      const [, id] = /"executionId"\s*:\s*"([^"]+)"/.exec(readBeginningOrNothing(path).toString()) ?? [];
      if (id) logs.set(id, path);
    }
  }
  return logs;
}

async function readExecution(path: string, sink: Sink): Promise<Message[]> {
  const log = await readObjectFile(path, sink);
  return listFields(log?.actions).flatMap((action) => readAction(action, (type) => sink.unhandled(type)));
}

function readAction(action: Fields, unhandled: Unhandled): Message[] {
  const type = asString(action.actionType) ?? "(none)";
  const output = asFields(action.output);
  const said = asString(output.message);
  const timed = (messages: Message[]) => messages.map((message) => withTime(message, action.emittedAt));
  if (type === "say") return timed(toTexts("assistant", said));
  if (type === "displayError") return timed([makeNotice(asString(action.errorMessage) ?? "An error occurred.")]);
  if (!tools.has(type)) {
    if (!skippedActions.has(type)) unhandled(`action.${type}`);
    return [];
  }
  const callId = asString(action.actionId);
  const isOver = action.output !== undefined || action.actionState === "Error";
  const result = asString(output.output) ?? said ?? "";
  const outcome = { callId, isError: action.actionState === "Error", exitCode: output.exitCode };
  return timed([makeToolCall(type, callId, action.input), ...(isOver ? [makeToolResult(result, outcome)] : [])]);
}
