import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { listFolder } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readWholeFile } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Message, Sink } from "../adapter.ts";
import { joinBlockTexts } from "../blocks.ts";
import { notice, toolCall, toolResult } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asString, asTimestamp } from "../values.ts";
import { source } from "./source.ts";

/** What an execution does besides speaking, under the names that are known. */
const tools = new Set(
  "replace create append delete readCode readFile readFiles readMultipleFiles runCommand search".split(" "),
);
const skippedActions = new Set("model intentClassification taskStatus specAgent userInput".split(" "));

/**
 * Reads a session of the editor's older versions, `workspace-sessions/PROJECT/SESSION.json`. It has the user's words whole;
 * what the model did stands in logs of their own, one for each execution that an answer names.
 */
export async function readEditorSession(path: string, sink: Sink): Promise<void> {
  sink.entry();
  const text = await readWholeFile(path, sink);
  const value = text === undefined ? undefined : parseJson(text);
  if (!isFields(value)) {
    if (text !== undefined) sink.invalid("not a JSON object");
    return;
  }
  sink.skipped();
  const session = new SessionBuilder(sink, source, asString(value.sessionId) ?? basename(path, ".json"));
  session.noteTitle(value.title);
  const folder = asString(value.workspaceDirectory);
  session.noteFolder(folder);
  session.noteTime(await createdAt(path, session.id));
  const logs = folder ? await findLogs(join(dirname(path), "..", ".."), folder) : new Map<string, string>();
  for (const entry of Array.isArray(value.history) ? value.history.filter(isFields) : []) {
    sink.entry();
    const messages = await entryMessages(entry, logs, sink);
    if (messages.length === 0) sink.skipped();
    session.send(messages);
    await sink.pause();
  }
  session.end();
}

/** When a session was created, from the list beside it: milliseconds in a text. */
async function createdAt(path: string, id: string): Promise<unknown> {
  const list = await readJsonFile(join(dirname(path), "sessions.json"));
  const found = (Array.isArray(list) ? list : []).find((one) => isFields(one) && one.sessionId === id);
  const time = isFields(found) ? found.dateCreated : undefined;
  return typeof time === "string" && /^\d+$/.test(time) ? Number(time) : time;
}

async function entryMessages(entry: Fields, logs: Map<string, string>, sink: Sink): Promise<Message[]> {
  const unhandled = (type: string) => sink.unhandled(type);
  const message = isFields(entry.message) ? entry.message : {};
  const text = joinBlockTexts(message.content, unhandled);
  if (message.role === "user") return text.trim() ? [{ role: "user", content: text }] : [];
  if (message.role === "tool") return [];
  if (message.role !== "assistant") {
    unhandled(`role.${asString(message.role) ?? "(none)"}`);
    return [];
  }
  const log = logs.get(asString(entry.executionId) ?? "");
  const done = log === undefined ? [] : await executionMessages(log, sink);
  if (done.some(({ role }) => role === "assistant")) return done;
  const prompts = Array.isArray(entry.promptLogs) ? entry.promptLogs.filter(isFields) : [];
  const completions = prompts.flatMap(({ completion }) => asString(completion) ?? []);
  const answer = text.trim() ? text : completions.join("\n\n");
  return [...done, ...(answer.trim() ? [{ role: "assistant", content: answer }] : [])];
}

/** The logs of a project's executions by their ids, which stand in each log's first bytes. */
async function findLogs(base: string, folder: string): Promise<Map<string, string>> {
  const project = join(base, createHash("sha256").update(folder).digest("hex").slice(0, 32));
  const logs = new Map<string, string>();
  for (const group of await listFolder(project)) {
    if (!group.isDirectory()) continue;
    for (const { name } of await listFolder(join(project, group.name))) {
      const path = join(project, group.name, name);
      const [, id] = /"executionId"\s*:\s*"([^"]+)"/.exec(await readStart(path)) ?? [];
      if (id) logs.set(id, path);
    }
  }
  return logs;
}

async function readStart(path: string): Promise<string> {
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0); // a pipe that nobody writes to would block
  const file = await open(path, flags).catch(() => undefined); // such as a folder, or a file that was deleted meanwhile
  if (!file) return "";
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1024), 0, 1024, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return "";
  } finally {
    await file.close();
  }
}

async function executionMessages(path: string, sink: Sink): Promise<Message[]> {
  sink.entry();
  const text = await readWholeFile(path, sink);
  const log = text === undefined ? undefined : parseJson(text);
  if (!isFields(log)) {
    if (text !== undefined) sink.invalid(`${basename(path)} is not a JSON object`);
    return [];
  }
  const actions = Array.isArray(log.actions) ? log.actions.filter(isFields) : [];
  return actions.flatMap((action) => actionMessages(action, (type) => sink.unhandled(type)));
}

function actionMessages(action: Fields, unhandled: (type: string) => void): Message[] {
  const type = asString(action.actionType) ?? "(none)";
  const output = isFields(action.output) ? action.output : {};
  const said = asString(output.message);
  const createdAt = asTimestamp(action.emittedAt);
  const timed = (messages: Message[]) => messages.map((message) => (createdAt ? { ...message, createdAt } : message));
  if (type === "say") return said?.trim() ? timed([{ role: "assistant", content: said }]) : [];
  if (type === "displayError") return timed([notice(asString(action.errorMessage) ?? "An error occurred.")]);
  if (!tools.has(type)) {
    if (!skippedActions.has(type)) unhandled(`action.${type}`);
    return [];
  }
  const callId = asString(action.actionId);
  const isOver = action.output !== undefined || action.actionState === "Error";
  const exitCode = Number.isSafeInteger(output.exitCode) ? (output.exitCode as number) : undefined;
  const result = asString(output.output) ?? said ?? "";
  const outcome = { callId, isError: action.actionState === "Error", exitCode };
  return timed([toolCall(type, callId, action.input), ...(isOver ? [toolResult(result, outcome)] : [])]);
}
