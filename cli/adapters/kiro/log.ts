import { basename } from "node:path";
import { type Fields, isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Message, Sink } from "../adapter.ts";
import { notice, thinking, toolCall } from "../messages.ts";
import { dataText } from "../pictures.ts";
import { SessionBuilder } from "../session-builder.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";
import { joinResult, jsonOutput, type OutputPart, pictureTexts } from "./conversation.ts";
import { source } from "./source.ts";

/** The file with a session's own fields, beside its log. */
export const aboutLog = (path: string): string => path.replace(/l$/, "");

/** Reads a log of the CLI, `sessions/cli/SESSION.jsonl`: entries by kind, each with a list of content. */
export async function readLog(path: string, sink: Sink): Promise<void> {
  const found = await readJsonFile(aboutLog(path));
  const about = isFields(found) ? found : {};
  const session = new SessionBuilder(sink, source, asString(about.session_id) ?? basename(path, ".jsonl"));
  session.noteTitle(about.title);
  session.noteFolder(about.cwd);
  session.note("parent", about.parent_session_id);
  session.noteTime(about.created_at);
  const state = isFields(about.session_state) ? about.session_state : {};
  const model = modelIn(state);
  await readRecords(path, sink, (record) => {
    const data = isFields(record.data) ? record.data : {};
    const messages = readMessages(record.kind, data, (type) => sink.unhandled(type));
    if (messages.length === 0) sink.skipped();
    const meta = isFields(data.meta) ? data.meta : {};
    session.send(messages, {
      // In seconds; only prompts have it.
      at: typeof meta.timestamp === "number" ? meta.timestamp * 1000 : meta.timestamp,
      uuid: data.message_id,
      ...(record.kind === "AssistantMessage" && { model }),
    });
  });
  for (const usage of turnUsages(state)) session.addUsage(usage);
  session.end();
}

function modelIn({ rts_model_state: state }: Fields): string | undefined {
  return isFields(state) && isFields(state.model_info) ? asString(state.model_info.model_id) : undefined;
}

/** The tokens of each turn, where they are told: most turns have credits only. */
function turnUsages({ conversation_metadata: metadata }: Fields): Usage[] {
  const turns = isFields(metadata) && Array.isArray(metadata.user_turn_metadatas) ? metadata.user_turn_metadatas : [];
  return turns.filter(isFields).map((turn) => ({
    inputTokens: asCount(turn.input_token_count) ?? 0,
    outputTokens: asCount(turn.output_token_count) ?? 0,
    cacheReadTokens: asCount(turn.cache_read_input_token_count) ?? 0,
    cacheWriteTokens: asCount(turn.cache_write_input_token_count) ?? 0,
  }));
}

function readMessages(kind: unknown, data: Fields, unhandled: (type: string) => void): Message[] {
  const blocks = (Array.isArray(data.content) ? data.content : []).filter(isFields);
  switch (kind) {
    case "Prompt":
    case "ToolResults":
      return blocks.flatMap((block) => blockMessages(block, "user", unhandled));
    case "AssistantMessage":
      return blocks.flatMap((block) => blockMessages(block, "assistant", unhandled));
    case "Compaction":
      return asString(data.summary) ? [notice(asString(data.summary) ?? "", "user")] : [];
    case "CancelledPrompt":
      return [notice("The prompt was taken back.")];
    case "ResetTo":
      return [notice("The conversation went back to an earlier point.")];
    case "Clear":
      return [notice("The conversation was cleared.")];
    default:
      unhandled(asString(kind) ?? "(none)");
      return [];
  }
}

function blockMessages({ kind, data }: Fields, role: string, unhandled: (type: string) => void): Message[] {
  const fields = isFields(data) ? data : {};
  switch (kind) {
    case "text":
      return typeof data === "string" && data.trim() !== "" ? [{ role, content: data }] : [];
    case "thinking":
    case "reasoning": {
      const text = asString(fields.text) ?? asString(data);
      return text?.trim() ? [thinking(text)] : [];
    }
    case "toolUse":
      return [toolCall(asString(fields.name) ?? "tool", asString(fields.toolUseId), fields.input)];
    case "toolResult":
      return [joinResult(outputParts(fields.content, unhandled), asString(fields.toolUseId), fields.status)];
    case "image":
      return [{ role, content: imageText(fields) }];
    default:
      unhandled(`content.${asString(kind) ?? "(none)"}`);
      return [];
  }
}

const imageText = (image: Fields): string => pictureTexts(image)[0] ?? dataText("image", image.format, undefined);

function outputParts(content: unknown, unhandled: (type: string) => void): OutputPart[] {
  if (typeof content === "string") return [{ text: content }];
  const blocks = (Array.isArray(content) ? content : []).filter(isFields);
  return blocks.map(({ kind, data }) => {
    if (kind === "text") return { text: asString(data) ?? "" };
    if (kind === "json") return jsonOutput(data);
    if (kind === "image") return { text: imageText(isFields(data) ? data : {}) };
    unhandled(`result.${asString(kind) ?? "(none)"}`);
    return { text: "" };
  });
}
