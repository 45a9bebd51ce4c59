import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { statInput } from "../../files/discovery.ts";
import { type Fields, isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Message, Sink, Unhandled } from "../adapter.ts";
import { joinBlockTexts, readAssistantBlocks, readUserBlocks, toBlocks } from "../blocks.ts";
import { makeNotice, makeToolResult, toNotices } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asString } from "../values.ts";
import { findProjectFolder } from "./places.ts";
import { readPlainTranscript } from "./plain-transcript.ts";
import { isRedacted, readUserText, source } from "./text.ts";

export const getTranscriptId = (path: string): string => basename(path).replace(/\.[^.]*$/, "");

/** Matches `agent-transcripts/ID/ID.jsonl` and `…/ID/subagents/CHILD.jsonl`, and text with the ending `.txt`. */
export const isTranscript = (path: string): boolean =>
  /[\\/]agent-transcripts[\\/](?:.*[\\/])?[^\\/]+\.(?:jsonl|txt)$/.test(path);

export const isPlain = (path: string): boolean => path.endsWith(".txt");

export async function isInJson(path: string): Promise<boolean> {
  const [folder, id] = [dirname(path), getTranscriptId(path)];
  const others = [join(folder, `${id}.jsonl`), join(folder, id, `${id}.jsonl`)];
  return (await Promise.all(others.map(statInput))).some(Boolean);
}

export async function readTranscript(path: string, sink: Sink): Promise<void> {
  const session = new SessionBuilder(sink, source, getTranscriptId(path));
  if (basename(dirname(path)) === "subagents") session.note("parent", basename(dirname(dirname(path))));
  session.noteFolder(await findProjectFolder(path));
  const { birthtimeMs, mtimeMs } = await stat(path);
  // The lines have no times.
  session.noteTime(birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs);
  if (isPlain(path)) return readPlainTranscript(path, sink, session);
  await readRecords(path, sink, (record) => {
    const messages = readRecord(record, (type) => sink.unhandled(type));
    session.add(messages, { at: record.timestamp, model: record.role === "assistant" ? record.model : undefined });
  });
  session.end();
}

function readRecord(record: Fields, unhandled: Unhandled): Message[] {
  const { role, type } = record;
  const content = isFields(record.message) ? record.message.content : record.content;
  if (role === "user") return readUserMessages(content, unhandled);
  if (role === "assistant") {
    const blocks = toBlocks(content).filter(({ text }) => typeof text !== "string" || !isRedacted(text));
    return blocks.flatMap((block) =>
      outputs.has(block.type) ? readUserMessages([block], unhandled) : readAssistantBlocks([block], unhandled),
    );
  }
  if (role === "system") {
    const text = joinBlockTexts(content, unhandled);
    return toNotices(text);
  }
  if (type === "error") return asString(record.error) ? [makeNotice(`Error: ${record.error}`)] : [];
  if (type !== "turn_ended") unhandled(asString(type) ?? `role.${asString(role) ?? "(none)"}`);
  return [];
}

const outputs = new Set<unknown>(["tool-result", "tool_result", "command_output", "redacted"]);

function readUserMessages(content: unknown, unhandled: Unhandled): Message[] {
  return toBlocks(content).flatMap((block): Message[] => {
    switch (block.type) {
      case "text":
        return readUserText(asString(block.text) ?? "").filter(({ content: text }) => !isRedacted(text));
      case "tool-result":
        return [makeToolResult(joinBlockTexts(block.content, unhandled), { callId: block.tool_use_id })];
      case "command_output":
        return toNotices(block.output, "user");
      case "redacted":
        return [];
      default:
        return readUserBlocks([block], unhandled);
    }
  });
}
