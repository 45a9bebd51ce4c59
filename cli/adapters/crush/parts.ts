import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult } from "../messages.ts";
import { inlineText } from "../pictures.ts";
import { asString } from "../values.ts";

export type PartFacts = {
  /** The message's. */
  id: string;
  role: string;
  /** Whether it replaced the conversation before it. */
  isSummary: boolean;
  /** The `sourceId` of the sub-agent's session that a call started. */
  findSession(callId: string): string | undefined;
};

/** The messages in one part of a message of Crush. */
export function partMessages(part: Fields, facts: PartFacts, unhandled: (type: string) => void): Message[] {
  const data = isFields(part.data) ? part.data : {};
  switch (part.type) {
    case "text": {
      const text = asString(data.text);
      if (!text?.trim()) return [];
      return [
        facts.isSummary || facts.role === "system" ? notice(text, facts.role) : { role: facts.role, content: text },
      ];
    }
    case "reasoning": {
      const text = asString(data.thinking);
      const [began, ended] = [data.started_at, data.finished_at].map((time) => (typeof time === "number" ? time : 0));
      const seconds = began && ended ? Math.max(0, ended - began) : 0;
      const thought = text?.trim() ? thinking(text) : undefined;
      if (!thought) return [];
      return [seconds > 0 ? { ...thought, metadata: { ...thought.metadata, durationMs: seconds * 1000 } } : thought];
    }
    case "tool_call":
      return [toolCall(asString(data.name) ?? "tool", asString(data.id), data.input)];
    case "tool_result":
      return [resultMessage(data, facts)];
    case "shell_command":
      return shellMessages(data, `${facts.id}:shell`);
    case "binary": {
      const path = asString(data.Path);
      const content = inlineText({ mimeType: data.MIMEType, data: data.Data });
      return [
        {
          role: facts.role,
          content,
          ...(path && { metadata: { attachments: [{ type: data.MIMEType, name: path }] } }),
        },
      ];
    }
    case "image_url":
      return [{ role: facts.role, content: "[image]" }];
    case "finish":
      return asString(data.message) && data.reason === "error"
        ? [notice([data.message, data.details].map(asString).filter(Boolean).join("\n"))]
        : [];
    default:
      unhandled(`part.${asString(part.type) ?? "(none)"}`);
      return [];
  }
}

function resultMessage(data: Fields, { findSession }: PartFacts): Message {
  const callId = asString(data.tool_call_id);
  const content =
    asString(data.content) ?? (asString(data.data) ? inlineText({ mimeType: data.mime_type, data: data.data }) : "");
  const outcome = { callId, isError: data.is_error === true, session: callId && findSession(callId) };
  return toolResult(content, outcome);
}

/** A command that the user ran, and what it printed. */
function shellMessages(data: Fields, callId: string): Message[] {
  const exitCode = Number.isSafeInteger(data.exit_code) ? (data.exit_code as number) : undefined;
  const call = { ...toolCall("bash", callId, { command: data.command }), role: "user" };
  return [call, toolResult(asString(data.output) ?? "", { callId, exitCode })];
}
