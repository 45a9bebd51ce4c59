import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isMissingOrForbidden } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import { readWholeFile } from "../../files/json-lines.ts";
import type { Sink } from "../adapter.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asCount, asString } from "../values.ts";
import { Conversation } from "./conversation.ts";
import { Display } from "./display.ts";
import { Requests } from "./requests.ts";

export const conversationFile = "api_conversation_history.json";
export const displayFile = "ui_messages.json";
/** The name before 2024-09. */
export const olderDisplayFile = "claude_messages.json";
/** Roo Code's and Kilo Code's own notes on a task; Cline keeps those of all tasks together. */
export const noteFile = "history_item.json";

/**
 * Reads a task's folder: what was sent to the model, with times, tokens and costs from the display's messages. Where the
 * conversation is missing, or lost what was summarized, the display's messages are the session.
 */
export async function readTask(folder: string, source: string, note: Fields | undefined, sink: Sink): Promise<void> {
  const session = new SessionBuilder(sink, source, basename(folder));
  const conversation = join(folder, conversationFile);
  const display = (await exists(join(folder, displayFile)))
    ? join(folder, displayFile)
    : join(folder, olderDisplayFile);
  const about = (await readNote(join(folder, noteFile), sink)) ?? note ?? {};
  session.noteFolder(about.workspace ?? about.cwdOnTaskInitialization);
  const requests = new Requests();
  const counted = (await exists(display)) && (await readList(display, [], sink, (message) => requests.add(message)));
  const isWhole = (await exists(conversation)) && (await hasAll(conversation, requests));
  noteDetails(session, about, requests);
  if (isWhole) {
    const reader = new Conversation(sink, session, requests);
    await readList(conversation, [], sink, (message) => reader.add(message), counted ? "skipped" : "counted");
    reader.end();
  } else {
    const reader = new Display(sink, session);
    await readList(display, [], sink, (message) => reader.add(message), "known");
    reader.end();
  }
  session.end();
}

/** Reads a session of Cline's newer form: one file, whose answers name their own tokens and costs. */
export async function readMessages(path: string, source: string, sink: Sink): Promise<void> {
  const session = new SessionBuilder(sink, source, basename(path, ".messages.json"));
  const folder = dirname(path);
  const root = basename(folder);
  const note = await readNote(join(folder, `${root}.json`), sink);
  const isChild = session.id !== root;
  if (isChild) {
    session.id = `${root}__${session.id}`;
    session.note("parent", root);
  }
  const about = isFields(note?.metadata) ? note.metadata : {};
  session.noteFolder(note?.cwd);
  if (!isChild) session.noteTitle(about.title);
  if (isFields(about.fork)) session.note("forkedFrom", about.fork.forkedFromSessionId);
  session.noteTime(note?.started_at);
  const reader = new Conversation(sink, session, new Requests());
  await readList(path, ["messages"], sink, (message) => reader.add(message));
  reader.end();
  session.end();
}

/** @param counting what becomes of the entries: `known` where an earlier pass has counted them */
async function readList(
  path: string,
  list: string[],
  sink: Sink,
  handle: (message: Fields) => void,
  counting: "counted" | "skipped" | "known" = "counted",
): Promise<boolean> {
  const isCounted = counting !== "known";
  const isComplete = await readJsonItems(
    path,
    {
      list,
      item(json, number) {
        const message = parseJson(json);
        if (isCounted) sink.entry(number);
        if (isFields(message)) handle(message);
        else if (isCounted) sink.invalid("not a message");
      },
    },
    {
      tooLong(number) {
        sink.lost(`message ${number} of ${basename(path)} is too long`);
      },
      pause: () => sink.pause(),
    },
  );
  if (!isComplete && isCounted) {
    sink.entry();
    sink.invalid(`${basename(path)} is cut off, or not a list of messages`);
  }
  return true;
}

/** Whether a conversation has an answer for each answered request of the display. */
async function hasAll(path: string, requests: Requests): Promise<boolean> {
  let [answers, messages, summaries] = [0, 0, 0];
  const item = (json: string) => {
    messages++;
    if (/^\{[^{}[\]]*"role"\s*:\s*"assistant"/.test(json) || parseRole(json) === "assistant") answers++;
    if (json.includes('"condenseParent"') || json.includes('"truncationParent"')) summaries++;
  };
  await readJsonItems(path, { list: [], item }, { tooLong() {}, pause: async () => {} });
  const answered = requests.all.filter(({ isAnswered }) => isAnswered).length;
  const isReplaced = requests.isCondensed && summaries === 0;
  return messages > 0 && answers >= answered && !isReplaced;
}

function parseRole(json: string): unknown {
  const message = parseJson(json);
  return isFields(message) ? message.role : undefined;
}

function noteDetails(session: SessionBuilder, note: Fields, requests: Requests): void {
  const title = asString(note.task) ?? requests.firstText;
  session.noteTitle(title?.trim().replace(/\s+/g, " "));
  session.noteModel(requests.model ?? note.modelId);
  session.note("parent", note.parentTaskId);
  for (const { at } of requests.all) session.noteTime(at);
  // Cline's ids are the times at which their tasks began.
  if (/^1\d{12}$/.test(session.id)) session.noteTime(asCount(Number(session.id)));
}

async function readNote(path: string, sink: Sink): Promise<Fields | undefined> {
  if (!(await exists(path))) return undefined;
  const note = parseJson((await readWholeFile(path, sink)) ?? "");
  return isFields(note) ? note : undefined;
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await stat(path)).size > 0;
  } catch (error) {
    if (isMissingOrForbidden(error)) return false;
    throw error;
  }
}
