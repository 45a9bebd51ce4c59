import { basename } from "node:path";
import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Sink, Unhandled } from "../adapter.ts";
import { joinBlockTexts, readAssistantBlocks, readUserBlocks, toBlocks } from "../blocks.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { makeToolResult } from "../messages.ts";
import { getDataRoot } from "../search-roots.ts";
import { SessionBuilder } from "../session-builder.ts";
import { readMessageFile } from "../session-files.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asFields, asString, parseUriPath } from "../values.ts";

const source = "amp";

export const amp = makeFileAdapter({
  name: source,
  title: "Amp",
  version: 2,
  getSearchRoots: (host) => [getDataRoot(host, "amp", "threads")],
  matches: (name) => /^T-.*\.json$/.test(name),
  async parse({ path }, sink) {
    const session = new SessionBuilder(sink, source, basename(path, ".json"));
    const thread = await readMessageFile(path, ["messages"], sink, (message) => addMessage(message, session, sink));
    if (thread) noteThread(thread, session);
    session.end();
  },
});

function addMessage({ role, content, usage, meta, state }: Fields, session: SessionBuilder, sink: Sink): void {
  const unhandled = (type: string) => sink.unhandled(type);
  const used = asFields(usage);
  const at = asFields(meta).sentAt ?? used.timestamp;
  if (role !== "user" && role !== "assistant") {
    sink.unhandled(`role.${asString(role) ?? "(none)"}`);
    return;
  }
  const messages = role === "user" ? readUserMessages(content, unhandled) : readAssistantBlocks(content, unhandled);
  const stopReason = asFields(state).stopReason;
  session.add(messages, { at, model: used.model, usage: readUsage(used), stopReason });
}

function readUserMessages(content: unknown, unhandled: Unhandled): Message[] {
  return toBlocks(content).flatMap((block) => {
    if (block.type !== "tool_result" || !isFields(block.run)) return readUserBlocks([block], unhandled);
    const { status, result, error } = block.run;
    const hasFailed = status === "error" || status === "cancelled";
    if (result === undefined && !hasFailed && status !== "done") return [];
    const reason = asString(asFields(error).message) ?? asString(error) ?? (hasFailed ? String(status) : "");
    const output = result === undefined || result === null ? reason : formatOutput(result);
    const { exitCode } = asFields(result);
    return [makeToolResult(output, { callId: block.toolUseID ?? block.tool_use_id, isError: hasFailed, exitCode })];
  });
}

function formatOutput(result: unknown): string {
  if (typeof result === "string") return result;
  if (Array.isArray(result)) {
    if (result.every((one) => typeof one === "string")) return result.join("\n");
    const isBlocks = result.every((one) => isFields(one) && (one.type === "text" || one.type === "image"));
    return isBlocks ? joinBlockTexts(result, () => {}) : JSON.stringify(result);
  }
  if (!isFields(result)) return String(result);
  const text = [result.output, result.content, result.diff].find((value) => typeof value === "string");
  return typeof text === "string" ? text : JSON.stringify(result);
}

const readUsage = ({ inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens }: Fields): Usage =>
  readTokens({
    inputTokens,
    outputTokens,
    cacheReadTokens: cacheReadInputTokens,
    cacheWriteTokens: cacheCreationInputTokens,
  });

function noteThread({ created, title, env }: Fields, session: SessionBuilder): void {
  session.noteTime(created);
  session.noteTitle(title);
  const initial = asFields(asFields(env).initial);
  if (isFields(initial.platform)) session.note("agentVersion", initial.platform.clientVersion);
  const [tree] = Array.isArray(initial.trees) ? initial.trees : [];
  if (!isFields(tree)) return;
  session.noteFolder(parseUriPath(tree.uri) ?? tree.displayName);
  if (!isFields(tree.repository)) return;
  session.noteRepository(tree.repository.url);
  session.note("branch", asString(tree.repository.ref)?.replace(/^refs\/heads\//, ""));
}
