import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { statInput } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Input, Message, Sink } from "../adapter.ts";
import { joinBlockTexts, toBlocks } from "../blocks.ts";
import { notice, thinking, toolCall, toolResult } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { openDatabase, readColumnText, statDatabase } from "../sqlite.ts";
import { withoutCounts } from "../uncounted-sink.ts";
import { asCount, asString } from "../values.ts";
import { messagesIn } from "./blobs.ts";
import { readStoreAbout } from "./places.ts";
import { source } from "./source.ts";
import { isRedacted, userText } from "./text.ts";

/** A session of the CLI has a database of its own, `chats/PROJECT/SESSION/store.db`, beside a `meta.json`. */
export async function findStore(path: string): Promise<Input | undefined> {
  const store = await statDatabase(path);
  const about = await statInput(join(dirname(path), "meta.json"));
  return store && { ...store, stamp: `${store.stamp} ${about?.stamp ?? ""}` };
}

/** Whether a database had messages when it was last looked into, by its stamp. */
const looked = new Map<string, { stamp: string; hasMessages: boolean }>();

/** Whether a session's messages can be read from its database; else its transcript has what there is of them. */
export async function hasMessages({ path, stamp }: Input): Promise<boolean> {
  const known = looked.get(path);
  if (known?.stamp === stamp) return known.hasMessages;
  const found = { stamp, hasMessages: await lookInto(path).catch(() => false) };
  looked.set(path, found);
  return found.hasMessages;
}

async function lookInto(path: string): Promise<boolean> {
  const database = await openDatabase(path);
  try {
    // What is looked at here is counted where it is read; no session begins.
    const ignored = withoutCounts({} as Sink);
    const root = asString(readMeta(database, ignored).latestRootBlobId);
    return root !== undefined && !messagesIn(database, root, ignored).next().done;
  } finally {
    database.close();
  }
}

export const storeSessionId = (path: string): string => basename(dirname(path));

/** Reads a session of the CLI. Its messages have no times and no tokens. */
export async function readStore(database: DatabaseSync, path: string, sink: Sink): Promise<void> {
  const session = new SessionBuilder(sink, source, storeSessionId(path));
  const about = await readStoreAbout(path);
  session.noteFolder(about.cwd);
  const meta = readMeta(database, sink);
  for (const name of [meta.name, about.title]) if (name !== "New Agent") session.noteTitle(name);
  for (const time of [meta.createdAt, about.createdAtMs]) session.noteTime(time);
  const root = asString(meta.latestRootBlobId);
  for (const message of root ? messagesIn(database, root, sink) : []) {
    const messages = readMessages(message, sink);
    if (messages.length === 0) sink.skipped();
    const { requestId } = getOptions(message);
    const model = message.role === "assistant" ? (findModel(message) ?? meta.lastUsedModel) : undefined;
    session.send(messages, { model, requestId });
    await sink.pause();
  }
  session.end();
}

/** The session's own fields: JSON in hexadecimal. */
function readMeta(database: DatabaseSync, sink: Sink): Fields {
  sink.entry();
  const text = readColumnText(database.prepare("SELECT value FROM meta WHERE key = '0'").get()?.value) ?? "";
  const meta = parseJson(/^[0-9a-f]+$/i.test(text) ? Buffer.from(text, "hex").toString("utf8") : text);
  if (isFields(meta)) {
    sink.skipped();
    return meta;
  }
  sink.invalid("the session's own fields are not JSON");
  return {};
}

/** What Cursor adds to a message or a block of it. */
function getOptions({ providerOptions }: Fields): Fields {
  return isFields(providerOptions) && isFields(providerOptions.cursor) ? providerOptions.cursor : {};
}

const findModel = (message: Fields): string | undefined =>
  [message, ...toBlocks(message.content)].map((one) => asString(getOptions(one).modelName)).find(Boolean);

function readMessages(message: Fields, sink: Sink): Message[] {
  const unhandled = (type: string) => sink.unhandled(type);
  switch (message.role) {
    case "user": {
      const text = joinBlockTexts(message.content, unhandled);
      return getOptions(message).isSummary === true && text ? [notice(text, "user")] : userText(text);
    }
    case "assistant":
      return toBlocks(message.content).flatMap((block) => answerMessages(block, unhandled));
    case "tool":
      return toBlocks(message.content).flatMap((block) => resultMessages(block, message, unhandled));
    case "system": // the agent's prompt, the same in each session
      return [];
    default:
      unhandled(`role.${asString(message.role) ?? "(none)"}`);
      return [];
  }
}

function answerMessages(block: Fields, unhandled: (type: string) => void): Message[] {
  const text = asString(block.text);
  switch (block.type) {
    case "text":
      return text?.trim() && !isRedacted(text) ? [{ role: "assistant", content: text }] : [];
    case "reasoning":
      return text?.trim() && !isRedacted(text) ? [thinking(text)] : [];
    case "redacted-reasoning":
      return [];
    case "tool-call":
      return [toolCall(asString(block.toolName) ?? "tool", asString(block.toolCallId), block.args ?? block.input)];
    default:
      unhandled(`content.${asString(block.type) ?? "(none)"}`);
      return [];
  }
}

function resultMessages(block: Fields, message: Fields, unhandled: (type: string) => void): Message[] {
  if (block.type !== "tool-result") {
    unhandled(`content.${asString(block.type) ?? "(none)"}`);
    return [];
  }
  const told = getOptions(message).highLevelToolCallResult;
  const high = isFields(told) ? told : {};
  const output = isFields(high.output) ? high.output : {};
  const outcome = [output.success, output.failure, output.error].find(isFields) ?? {};
  return [
    toolResult(resultText(block, unhandled), {
      callId: asString(block.toolCallId),
      isError: [high.isError, output.isError, block.isError].includes(true),
      exitCode: Number.isSafeInteger(outcome.exitCode) ? (outcome.exitCode as number) : undefined,
      durationMs: asCount(outcome.executionTime) ?? asCount(outcome.durationMs),
      session: block.toolName === "Task" ? asString(outcome.agentId) : undefined,
    }),
  ];
}

function resultText({ result, experimental_content: content }: Fields, unhandled: (type: string) => void): string {
  if (typeof result === "string") return result;
  const text = joinBlockTexts(content, unhandled);
  return text || (result === undefined || result === null ? "" : JSON.stringify(result));
}
