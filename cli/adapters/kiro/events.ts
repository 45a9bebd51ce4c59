import { basename, dirname, join } from "node:path";
import { type Fields, isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Message, Sink, Unhandled } from "../adapter.ts";
import { joinBlockTexts } from "../blocks.ts";
import { makeNotice, makeThought, makeToolCall, makeToolResult, toNotices, withAttachments } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asFields, asString, toWords } from "../values.ts";
import { source } from "./conversation.ts";

export const getEventsAbout = (path: string): string => join(dirname(path), "session.json");

const skipped = toWords(`
  session_start session_event session_metadata pending_interaction interaction_resolved steering_inclusion turn_start turn_end
  usage_summary contextual_hook_invoked sub_agent_start sub_agent_complete subagent_start subagent_complete tombstone`);

export async function readEvents(path: string, sink: Sink): Promise<void> {
  const about = asFields(await readJsonFile(getEventsAbout(path)));
  const session = new SessionBuilder(sink, source, basename(dirname(path)));
  session.noteTitle(about.title);
  const [folder] = Array.isArray(about.workspacePaths) ? about.workspacePaths : [about.workspacePath ?? about.cwd];
  session.noteFolder(folder);
  session.note("parent", about.parentSessionId);
  session.noteTime(about.createdAt);
  await readRecords(path, sink, (record) => {
    const payload = isFields(record.payload) ? record.payload : record;
    const messages = readMessages(payload, (type) => sink.unhandled(type));
    session.add(messages, {
      at: record.timestamp,
      uuid: record.id,
      ...(payload.type === "assistant" && { model: about.modelId }),
    });
  });
  session.end();
}

function readMessages(payload: Fields, unhandled: Unhandled): Message[] {
  const type = asString(payload.type) ?? "(none)";
  const text = joinBlockTexts(payload.content, unhandled);
  const callId = asString(payload.toolCallId);
  switch (type) {
    case "user": {
      const listed = (value: unknown, kind: string) => (Array.isArray(value) ? value.map(() => ({ type: kind })) : []);
      const attachments = [...listed(payload.images, "image"), ...listed(payload.documents, "document")];
      if (!text.trim() && attachments.length === 0) return [];
      const message = { role: "user", content: text.trim() ? text : "[attachments]" };
      return [withAttachments(message, attachments)];
    }
    case "assistant":
      // A thought is three dots, because its text is encrypted elsewhere.
      if (!text.trim() || /^(?:\.{3}|…)$/.test(text.trim())) return [];
      return [payload.operationType === "Reasoning" ? makeThought(text) : { role: "assistant", content: text }];
    case "tool_call":
      return [makeToolCall(payload.toolName, callId, payload.args)];
    case "tool_result":
      return [makeToolResult(text, { callId, isError: payload.success === false })];
    default:
      return readOther(type, payload, unhandled);
  }
}

function readOther(type: string, payload: Fields, unhandled: Unhandled): Message[] {
  const { key, value } = payload;
  if (type === "session_metadata" && key === "displayError") return toNotices(asFields(value).message);
  if (type === "tombstone") return [makeNotice("The conversation so far was summarized.")];
  if (!skipped.has(type)) unhandled(type);
  return [];
}
