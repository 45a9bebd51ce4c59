import type { Fields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeNotice, makeToolCall, makeToolResult, toThoughts, withAttachments, withMetadata } from "../messages.ts";
import { formatInlineData } from "../pictures.ts";
import { asAmount, asFields, asString, joinTexts } from "../values.ts";

export type PartFacts = {
  id: string;
  role: string;
  isSummary: boolean;
  findSession(callId: string): string | undefined;
};

export function readPart(part: Fields, facts: PartFacts, unhandled: Unhandled): Message[] {
  const data = asFields(part.data);
  switch (part.type) {
    case "text": {
      const text = asString(data.text);
      if (!text?.trim()) return [];
      return [
        facts.isSummary || facts.role === "system" ? makeNotice(text, facts.role) : { role: facts.role, content: text },
      ];
    }
    case "reasoning": {
      const [began, ended] = [data.started_at, data.finished_at].map(asAmount);
      const durationMs = began && ended && ended > began ? (ended - began) * 1000 : undefined;
      return toThoughts(data.thinking).map((thought) => withMetadata(thought, { durationMs }));
    }
    case "tool_call":
      return [makeToolCall(data.name, data.id, data.input)];
    case "tool_result":
      return [readResult(data, facts)];
    case "shell_command":
      return readShell(data, `${facts.id}:shell`);
    case "binary": {
      const name = asString(data.Path);
      const content = formatInlineData({ mimeType: data.MIMEType, data: data.Data });
      return [withAttachments({ role: facts.role, content }, name ? [{ type: data.MIMEType, name }] : [])];
    }
    case "image_url":
      return [{ role: facts.role, content: "[image]" }];
    case "finish":
      return asString(data.message) && data.reason === "error"
        ? [makeNotice(joinTexts([data.message, data.details]))]
        : [];
    default:
      unhandled(`part.${asString(part.type) ?? "(none)"}`);
      return [];
  }
}

function readResult(data: Fields, { findSession }: PartFacts): Message {
  const callId = asString(data.tool_call_id);
  const content =
    asString(data.content) ??
    (asString(data.data) ? formatInlineData({ mimeType: data.mime_type, data: data.data }) : "");
  const outcome = { callId, isError: data.is_error === true, session: callId && findSession(callId) };
  return makeToolResult(content, outcome);
}

function readShell(data: Fields, callId: string): Message[] {
  const call = { ...makeToolCall("bash", callId, { command: data.command }), role: "user" };
  return [call, makeToolResult(asString(data.output) ?? "", { callId, exitCode: data.exit_code })];
}
