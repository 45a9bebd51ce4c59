import { basename, dirname, join } from "node:path";
import { findFiles, statInput } from "../../files/discovery.ts";
import { type Fields, isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Message, SearchRoot, Sink } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { dataText } from "../pictures.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asCount, asString } from "../values.ts";

const source = "mistral-vibe";

/**
 * Mistral Vibe: a folder for each session, with its messages as JSON lines and its details.
 *
 * Messages have no times, and tokens are kept for the session alone.
 */
export const vibe: Adapter = {
  name: source,
  title: "Mistral Vibe",
  version: 3,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name === "messages.jsonl")) {
        const details = await statInput(join(dirname(input.path), "meta.json"));
        yield { ...input, stamp: `${input.stamp}|${details?.stamp ?? ""}` };
      }
    }
  },
  async parse({ path }, sink) {
    const read = await readJsonFile(join(dirname(path), "meta.json"));
    const meta = isFields(read) ? read : {};
    const session = new SessionBuilder(sink, source, asString(meta.session_id) ?? basename(dirname(path)));
    noteDetails(session, meta);
    await readRecords(path, sink, (record) => {
      const messages = readMessages(record, sink);
      if (messages.length === 0) sink.skipped();
      session.send(messages);
    });
    session.end();
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.VIBE_HOME;
  return [{ path: join(named || join(home, ".vibe"), "logs", "session"), ...(named && { variable: "VIBE_HOME" }) }];
}

function readMessages(record: Fields, sink: Sink): Message[] {
  const text = joinTexts(record.content, sink);
  switch (record.role) {
    case "user": {
      const images = Array.isArray(record.images) ? record.images.filter(isFields) : [];
      const attachments = images.map(({ mime_type, name }) => ({
        type: asString(mime_type) ?? "image",
        ...(asString(name) && { name: String(name) }),
      }));
      if (text.trim() === "" && images.length === 0) return [];
      if (record.injected === true) return [notice(text, "user")];
      const pictures = images.flatMap(({ mime_type, data }) =>
        asString(data) ? dataText("image", mime_type, data) : [],
      );
      const content = [text, ...pictures].filter(Boolean).join("\n");
      const message: Message = { role: "user", content: content || "[image]" };
      return [attachments.length > 0 ? withMetadata(message, { attachments }) : message];
    }
    case "assistant": {
      const thought = joinTexts(record.reasoning_content, sink);
      const calls = Array.isArray(record.tool_calls) ? record.tool_calls.filter(isFields) : [];
      return [
        ...(thought ? [thinking(thought)] : []),
        ...(text.trim() === "" ? [] : [{ role: "assistant", content: text }]),
        ...calls.map(makeCall),
      ];
    }
    case "tool":
      return [toolResult(text, { callId: asString(record.tool_call_id), isError: /^\s*<tool_error>/.test(text) })];
    case "system":
      // The agent's own prompt.
      return [];
    default:
      sink.unhandled(`role.${asString(record.role) ?? "(none)"}`);
      return [];
  }
}

function makeCall({ id, function: called }: Fields): Message {
  const { name, arguments: input } = isFields(called) ? called : ({} as Fields);
  return toolCall(asString(name) ?? "tool", asString(id), input);
}

function joinTexts(content: unknown, sink: Sink): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.filter(isFields) : [];
  return parts
    .map((part) => {
      if (part.type !== "text") sink.unhandled(`content.${asString(part.type) ?? "(none)"}`);
      return asString(part.text) ?? "";
    })
    .filter(Boolean)
    .join("\n");
}

function noteDetails(session: SessionBuilder, meta: Fields): void {
  const { environment, stats, config } = meta;
  session.noteFolder(isFields(environment) ? environment.working_directory : undefined);
  session.noteTitle(meta.title);
  session.noteTime(meta.start_time);
  session.note("branch", meta.git_branch);
  session.note("forkedFrom", meta.parent_session_id);
  session.noteModel(asString(meta.model) ?? (isFields(config) ? asString(config.active_model) : undefined));
  if (!isFields(stats)) return;
  const inputTokens = asCount(stats.session_prompt_tokens);
  const outputTokens = asCount(stats.session_completion_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return;
  // Newer versions tell how much of the input came from the cache.
  const cacheReadTokens = Math.min(asCount(stats.session_cached_tokens) ?? 0, inputTokens);
  session.addUsage({ inputTokens: inputTokens - cacheReadTokens, outputTokens, cacheReadTokens });
}
