import { basename } from "node:path";
import type { Fields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Message, Sink, Unhandled } from "../adapter.ts";
import { makeNotice, makeToolCall, toNotices, toTexts, toThoughts } from "../messages.ts";
import { formatData } from "../pictures.ts";
import { SessionBuilder } from "../session-builder.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asFields, asString, listFields, toMilliseconds } from "../values.ts";
import { joinResult, type OutputPart, readJsonOutput, readPictures, source } from "./conversation.ts";

export const getLogAbout = (path: string): string => path.replace(/l$/, "");

export async function readLog(path: string, sink: Sink): Promise<void> {
  const about = asFields(await readJsonFile(getLogAbout(path)));
  const session = new SessionBuilder(sink, source, asString(about.session_id) ?? basename(path, ".jsonl"));
  session.noteTitle(about.title);
  session.noteFolder(about.cwd);
  session.note("parent", about.parent_session_id);
  session.noteTime(about.created_at);
  const state = asFields(about.session_state);
  const model = findModel(state);
  await readRecords(path, sink, (record) => {
    const data = asFields(record.data);
    const messages = readMessages(record.kind, data, (type) => sink.unhandled(type));
    const meta = asFields(data.meta);
    session.add(messages, {
      at: toMilliseconds(meta.timestamp),
      uuid: data.message_id,
      ...(record.kind === "AssistantMessage" && { model }),
    });
  });
  for (const usage of listTurnUsages(state)) session.addUsage(usage);
  session.end();
}

function findModel({ rts_model_state: state }: Fields): string | undefined {
  return asString(asFields(asFields(state).model_info).model_id);
}

function listTurnUsages({ conversation_metadata: metadata }: Fields): Usage[] {
  return listFields(asFields(metadata).user_turn_metadatas).map((turn) =>
    readTokens({
      inputTokens: turn.input_token_count,
      outputTokens: turn.output_token_count,
      cacheReadTokens: turn.cache_read_input_token_count,
      cacheWriteTokens: turn.cache_write_input_token_count,
    }),
  );
}

function readMessages(kind: unknown, data: Fields, unhandled: Unhandled): Message[] {
  const blocks = listFields(data.content);
  switch (kind) {
    case "Prompt":
    case "ToolResults":
      return blocks.flatMap((block) => readBlock(block, "user", unhandled));
    case "AssistantMessage":
      return blocks.flatMap((block) => readBlock(block, "assistant", unhandled));
    case "Compaction":
      return toNotices(data.summary, "user");
    case "CancelledPrompt":
      return [makeNotice("The prompt was taken back.")];
    case "ResetTo":
      return [makeNotice("The conversation went back to an earlier point.")];
    case "Clear":
      return [makeNotice("The conversation was cleared.")];
    default:
      unhandled(asString(kind) ?? "(none)");
      return [];
  }
}

function readBlock({ kind, data }: Fields, role: string, unhandled: Unhandled): Message[] {
  const fields = asFields(data);
  switch (kind) {
    case "text":
      return toTexts(role, data);
    case "thinking":
    case "reasoning":
      return toThoughts(asString(fields.text) ?? data);
    case "toolUse":
      return [makeToolCall(fields.name, fields.toolUseId, fields.input)];
    case "toolResult":
      return [joinResult(readOutputParts(fields.content, unhandled), asString(fields.toolUseId), fields.status)];
    case "image":
      return [{ role, content: formatImage(fields) }];
    default:
      unhandled(`content.${asString(kind) ?? "(none)"}`);
      return [];
  }
}

const formatImage = (image: Fields): string => readPictures(image)[0] ?? formatData("image", image.format, undefined);

function readOutputParts(content: unknown, unhandled: Unhandled): OutputPart[] {
  if (typeof content === "string") return [{ text: content }];
  const blocks = listFields(content);
  return blocks.map(({ kind, data }) => {
    if (kind === "text") return { text: asString(data) ?? "" };
    if (kind === "json") return readJsonOutput(data);
    if (kind === "image") return { text: formatImage(asFields(data)) };
    unhandled(`result.${asString(kind) ?? "(none)"}`);
    return { text: "" };
  });
}
