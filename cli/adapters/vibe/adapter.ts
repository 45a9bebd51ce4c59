import { basename, dirname, join } from "node:path";
import { type Fields, isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Message, Sink } from "../adapter.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { makeNotice, makeToolResult, toFunctionCall, toTexts, toThoughts, withAttachments } from "../messages.ts";
import { formatData } from "../pictures.ts";
import { getHomeRoot } from "../search-roots.ts";
import { SessionBuilder } from "../session-builder.ts";
import { asCount, asFields, asString, joinTexts, listFields } from "../values.ts";

const source = "mistral-vibe";

export const vibe = makeFileAdapter({
  name: source,
  title: "Mistral Vibe",
  version: 3,
  getSearchRoots: (host) => [getHomeRoot(host, "VIBE_HOME", ".vibe", "logs", "session")],
  matches: (name) => name === "messages.jsonl",
  getSibling: (path) => join(dirname(path), "meta.json"),
  async parse({ path }, sink) {
    const meta = asFields(await readJsonFile(join(dirname(path), "meta.json")));
    const session = new SessionBuilder(sink, source, asString(meta.session_id) ?? basename(dirname(path)));
    noteDetails(session, meta);
    await readRecords(path, sink, (record) => {
      const messages = readMessages(record, sink);
      session.add(messages);
    });
    session.end();
  },
});

function readMessages(record: Fields, sink: Sink): Message[] {
  const text = readText(record.content, sink);
  switch (record.role) {
    case "user": {
      const images = listFields(record.images);
      const attachments = images.map(({ mime_type, name }) => ({
        type: asString(mime_type) ?? "image",
        ...(asString(name) && { name: String(name) }),
      }));
      if (text.trim() === "" && images.length === 0) return [];
      if (record.injected === true) return [makeNotice(text, "user")];
      const pictures = images.flatMap(({ mime_type, data }) =>
        asString(data) ? formatData("image", mime_type, data) : [],
      );
      const content = joinTexts([text, ...pictures]);
      return [withAttachments({ role: "user", content: content || "[image]" }, attachments)];
    }
    case "assistant":
      return [
        ...toThoughts(readText(record.reasoning_content, sink)),
        ...toTexts("assistant", text),
        ...listFields(record.tool_calls).map(toFunctionCall),
      ];
    case "tool":
      return [makeToolResult(text, { callId: record.tool_call_id, isError: /^\s*<tool_error>/.test(text) })];
    case "system":
      return [];
    default:
      sink.unhandled(`role.${asString(record.role) ?? "(none)"}`);
      return [];
  }
}

function readText(content: unknown, sink: Sink): string {
  if (typeof content === "string") return content;
  const texts = listFields(content).map(({ type, text }) => {
    if (type !== "text") sink.unhandled(`content.${asString(type) ?? "(none)"}`);
    return text;
  });
  return joinTexts(texts);
}

function noteDetails(session: SessionBuilder, meta: Fields): void {
  const { environment, stats, config } = meta;
  session.noteFolder(asFields(environment).working_directory);
  session.noteTitle(meta.title);
  session.noteTime(meta.start_time);
  session.note("branch", meta.git_branch);
  session.note("forkedFrom", meta.parent_session_id);
  session.noteModel(asString(meta.model) ?? asString(asFields(config).active_model));
  if (!isFields(stats)) return;
  const inputTokens = asCount(stats.session_prompt_tokens);
  const outputTokens = asCount(stats.session_completion_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return;
  const cacheReadTokens = Math.min(asCount(stats.session_cached_tokens) ?? 0, inputTokens);
  session.addUsage({ inputTokens: inputTokens - cacheReadTokens, outputTokens, cacheReadTokens });
}
