import { basename, dirname, join } from "node:path";
import { statInput } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import { readWholeFile } from "../../files/json-lines.ts";
import type { Sink } from "../adapter.ts";
import { SessionBuilder } from "../session-builder.ts";
import { readMessageFile } from "../session-files.ts";
import { silentSink, withoutCounts } from "../sinks.ts";
import { asCount, asFields, asString } from "../values.ts";
import { Conversation } from "./conversation.ts";
import { Display } from "./display.ts";
import { TaskRequests } from "./requests.ts";

export const conversationFile = "api_conversation_history.json";
export const displayFile = "ui_messages.json";
export const olderDisplayFile = "claude_messages.json";
/** Cline keeps the notes on all tasks together. */
export const noteFile = "history_item.json";

/** The display adds times, tokens and costs, and replaces a missing or shortened conversation. */
export async function readTask(folder: string, source: string, note: Fields | undefined, sink: Sink): Promise<void> {
  const session = new SessionBuilder(sink, source, basename(folder));
  const conversation = join(folder, conversationFile);
  const display = join(folder, (await hasContent(join(folder, displayFile))) ? displayFile : olderDisplayFile);
  const about = (await readNote(join(folder, noteFile), sink)) ?? note ?? {};
  session.noteFolder(about.workspace ?? about.cwdOnTaskInitialization);
  const requests = new TaskRequests();
  if (await hasContent(display)) await readMessageFile(display, [], sink, (message) => requests.add(message));
  const isWhole = (await hasContent(conversation)) && (await hasAll(conversation, requests));
  noteDetails(session, about, requests);
  if (isWhole) {
    const reader = new Conversation(sink, session, requests);
    await readMessageFile(conversation, [], sink, (message) => reader.add(message));
    reader.end();
  } else {
    const reader = new Display(sink, session);
    await readMessageFile(display, [], withoutCounts(sink), (message) => reader.add(message));
    reader.end();
  }
  session.end();
}

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
  const reader = new Conversation(sink, session, new TaskRequests());
  await readMessageFile(path, ["messages"], sink, (message) => reader.add(message));
  reader.end();
  session.end();
}

/** A whole conversation has an answer for each answered request of the display. */
async function hasAll(path: string, requests: TaskRequests): Promise<boolean> {
  let [answers, messages, summaries] = [0, 0, 0];
  const item = (json: string) => {
    messages++;
    if (/^\{[^{}[\]]*"role"\s*:\s*"assistant"/.test(json) || asFields(parseJson(json)).role === "assistant") answers++;
    if (json.includes('"condenseParent"') || json.includes('"truncationParent"')) summaries++;
  };
  await readJsonItems(path, { list: [], item }, silentSink);
  const answered = requests.all.filter(({ isAnswered }) => isAnswered).length;
  const isReplaced = requests.isCondensed && summaries === 0;
  return messages > 0 && answers >= answered && !isReplaced;
}

function noteDetails(session: SessionBuilder, note: Fields, requests: TaskRequests): void {
  const title = asString(note.task) ?? requests.firstText;
  session.noteTitle(title?.trim().replace(/\s+/g, " "));
  session.noteModel(requests.model ?? note.modelId);
  session.note("parent", note.parentTaskId);
  for (const { at } of requests.all) session.noteTime(at);
  // Cline's ids are the times at which tasks began.
  if (/^1\d{12}$/.test(session.id)) session.noteTime(asCount(Number(session.id)));
}

async function readNote(path: string, sink: Sink): Promise<Fields | undefined> {
  if (!(await hasContent(path))) return undefined;
  const note = parseJson((await readWholeFile(path, sink)) ?? "");
  return isFields(note) ? note : undefined;
}

const hasContent = async (path: string): Promise<boolean> => ((await statInput(path))?.bytes ?? 0) > 0;
