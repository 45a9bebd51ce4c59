import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { statInput } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Input, Message, Sink, Unhandled } from "../adapter.ts";
import { joinBlockTexts, toBlocks } from "../blocks.ts";
import { makeNotice, makeToolCall, makeToolResult, toTexts, toThoughts } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { withoutCounts } from "../sinks.ts";
import { readColumnText, statDatabase, withDatabase } from "../sqlite.ts";
import { asCount, asFields, asString } from "../values.ts";
import { readBlobMessages } from "./blobs.ts";
import { isRedacted, readUserText, source } from "./text.ts";

export async function findStore(path: string): Promise<Input | undefined> {
  const store = await statDatabase(path);
  const about = await statInput(join(dirname(path), "meta.json"));
  return store && { ...store, stamp: `${store.stamp} ${about?.stamp ?? ""}` };
}

const looked = new Map<string, { stamp: string; hasMessages: boolean }>();

/** The transcript replaces a database without messages. */
export async function hasMessages({ path, stamp }: Input): Promise<boolean> {
  const known = looked.get(path);
  if (known?.stamp === stamp) return known.hasMessages;
  const found = { stamp, hasMessages: await lookInto(path).catch(() => false) };
  looked.set(path, found);
  return found.hasMessages;
}

async function lookInto(path: string): Promise<boolean> {
  return withDatabase(path, (database) => {
    // Reading the session counts these entries later.
    const ignored = withoutCounts({} as Sink);
    const root = asString(readMeta(database, ignored).latestRootBlobId);
    return root !== undefined && !readBlobMessages(database, root, ignored).next().done;
  });
}

export const getStoreId = (path: string): string => basename(dirname(path));

export async function readStore(database: DatabaseSync, path: string, sink: Sink): Promise<void> {
  const session = new SessionBuilder(sink, source, getStoreId(path));
  const about = asFields(await readJsonFile(join(dirname(path), "meta.json")));
  session.noteFolder(about.cwd);
  const meta = readMeta(database, sink);
  for (const name of [meta.name, about.title]) if (name !== "New Agent") session.noteTitle(name);
  for (const time of [meta.createdAt, about.createdAtMs]) session.noteTime(time);
  const root = asString(meta.latestRootBlobId);
  for (const message of root ? readBlobMessages(database, root, sink) : []) {
    const messages = readMessages(message, sink);
    const { requestId } = getOptions(message);
    const model = message.role === "assistant" ? (findModel(message) ?? meta.lastUsedModel) : undefined;
    session.add(messages, { model, requestId });
    await sink.pause();
  }
  session.end();
}

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

function getOptions({ providerOptions }: Fields): Fields {
  return asFields(asFields(providerOptions).cursor);
}

const findModel = (message: Fields): string | undefined =>
  [message, ...toBlocks(message.content)].map((one) => asString(getOptions(one).modelName)).find(Boolean);

function readMessages(message: Fields, sink: Sink): Message[] {
  const unhandled = (type: string) => sink.unhandled(type);
  switch (message.role) {
    case "user": {
      const text = joinBlockTexts(message.content, unhandled);
      return getOptions(message).isSummary === true && text ? [makeNotice(text, "user")] : readUserText(text);
    }
    case "assistant":
      return toBlocks(message.content).flatMap((block) => readAnswerBlock(block, unhandled));
    case "tool":
      return toBlocks(message.content).flatMap((block) => readResultBlock(block, message, unhandled));
    case "system":
      return [];
    default:
      unhandled(`role.${asString(message.role) ?? "(none)"}`);
      return [];
  }
}

function readAnswerBlock(block: Fields, unhandled: Unhandled): Message[] {
  const text = asString(block.text);
  switch (block.type) {
    case "text":
      return text && !isRedacted(text) ? toTexts("assistant", text) : [];
    case "reasoning":
      return text && !isRedacted(text) ? toThoughts(text) : [];
    case "redacted-reasoning":
      return [];
    case "tool-call":
      return [makeToolCall(block.toolName, block.toolCallId, block.args ?? block.input)];
    default:
      unhandled(`content.${asString(block.type) ?? "(none)"}`);
      return [];
  }
}

function readResultBlock(block: Fields, message: Fields, unhandled: Unhandled): Message[] {
  if (block.type !== "tool-result") {
    unhandled(`content.${asString(block.type) ?? "(none)"}`);
    return [];
  }
  const high = asFields(getOptions(message).highLevelToolCallResult);
  const output = asFields(high.output);
  const outcome = [output.success, output.failure, output.error].find(isFields) ?? {};
  return [
    makeToolResult(readResultText(block, unhandled), {
      callId: block.toolCallId,
      isError: [high.isError, output.isError, block.isError].includes(true),
      exitCode: outcome.exitCode,
      durationMs: asCount(outcome.executionTime) ?? asCount(outcome.durationMs),
      session: block.toolName === "Task" ? outcome.agentId : undefined,
    }),
  ];
}

function readResultText({ result, experimental_content: content }: Fields, unhandled: Unhandled): string {
  if (typeof result === "string") return result;
  const text = joinBlockTexts(content, unhandled);
  return text || (result === undefined || result === null ? "" : JSON.stringify(result));
}
