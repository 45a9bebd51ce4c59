import { basename, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import type { Adapter, Host, Message, SearchRoot, Sink } from "../adapter.ts";
import { assistantMessages, joinBlockTexts, toBlocks, userBlocks } from "../blocks.ts";
import { toolResult } from "../messages.ts";
import { SessionBuilder } from "../session-builder.ts";
import { uriPath } from "../uri.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";

const source = "amp";

/**
 * Amp: a JSON file for each thread that is kept on this machine, rewritten whole. Threads that are only on Amp's servers are not
 * here.
 *
 * - Answers have the tokens of their request.
 * - Results name how the call ended; one that is still running has none.
 */
export const amp: Adapter = {
  name: source,
  title: "Amp",
  version: 2,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) yield* findFiles(path, (name) => /^T-.*\.json$/.test(name));
  },
  async parse({ path }, sink) {
    const session = new SessionBuilder(sink, source, basename(path, ".json"));
    let isThread = false;
    const isComplete = await readJsonItems(
      path,
      {
        list: ["messages"],
        item(json, number) {
          sink.entry(number);
          const message = parseJson(json);
          if (isFields(message)) addMessage(message, session, sink);
          else sink.invalid("not a message");
        },
        rest(json) {
          const thread = parseJson(json);
          isThread = isFields(thread);
          if (isFields(thread)) noteThread(thread, session);
        },
      },
      { tooLong: (number) => sink.lost(`message ${number} is too long`), pause: () => sink.pause() },
    );
    if (!isComplete || !isThread) {
      sink.entry();
      sink.invalid(`${basename(path)} is cut off, or no thread`);
    }
    session.end();
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.XDG_DATA_HOME;
  const data = named || join(home, ".local", "share");
  return [{ path: join(data, "amp", "threads"), ...(named && { variable: "XDG_DATA_HOME" }) }];
}

function addMessage({ role, content, usage, meta, state }: Fields, session: SessionBuilder, sink: Sink): void {
  const unhandled = (type: string) => sink.unhandled(type);
  const used = isFields(usage) ? usage : {};
  const at = (isFields(meta) ? meta.sentAt : undefined) ?? used.timestamp;
  if (role !== "user" && role !== "assistant") {
    sink.unhandled(`role.${asString(role) ?? "(none)"}`);
    return;
  }
  const messages = role === "user" ? userMessages(content, unhandled) : assistantMessages(content, unhandled);
  if (messages.length === 0) sink.skipped();
  const stopReason = isFields(state) ? state.stopReason : undefined;
  session.send(messages, { at, model: used.model, usage: readUsage(used), stopReason });
}

function userMessages(content: unknown, unhandled: (type: string) => void): Message[] {
  return toBlocks(content).flatMap((block) => {
    if (block.type !== "tool_result" || !isFields(block.run)) return userBlocks([block], unhandled);
    const { status, result, error } = block.run;
    const hasFailed = status === "error" || status === "cancelled";
    if (result === undefined && !hasFailed && status !== "done") return [];
    const reason = isFields(error) ? asString(error.message) : asString(error);
    const output =
      result === undefined || result === null ? (reason ?? (hasFailed ? String(status) : "")) : formatOutput(result);
    const exitCode = isFields(result) && Number.isSafeInteger(result.exitCode) ? Number(result.exitCode) : undefined;
    const callId = asString(block.toolUseID) ?? asString(block.tool_use_id);
    return [toolResult(output, { callId, isError: hasFailed, exitCode })];
  });
}

/** A result: its text, or that of the field that has the output, else JSON. */
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

function readUsage(used: Fields): Usage | undefined {
  const [input, outputTokens, written, cacheReadTokens] = [
    used.inputTokens,
    used.outputTokens,
    used.cacheCreationInputTokens,
    used.cacheReadInputTokens,
  ].map(asCount);
  if (input === undefined && outputTokens === undefined) return undefined;
  return {
    inputTokens: input ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: cacheReadTokens ?? 0,
    cacheWriteTokens: written ?? 0,
  };
}

function noteThread({ created, title, env }: Fields, session: SessionBuilder): void {
  session.noteTime(created);
  session.noteTitle(title);
  const initial = isFields(env) && isFields(env.initial) ? env.initial : {};
  if (isFields(initial.platform)) session.note("agentVersion", initial.platform.clientVersion);
  const [tree] = Array.isArray(initial.trees) ? initial.trees : [];
  if (!isFields(tree)) return;
  session.noteFolder(uriPath(tree.uri) ?? tree.displayName);
  if (!isFields(tree.repository)) return;
  session.noteRepository(tree.repository.url);
  session.note("branch", asString(tree.repository.ref)?.replace(/^refs\/heads\//, ""));
}
