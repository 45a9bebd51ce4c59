import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Message, Sink } from "../adapter.ts";
import { makeNotice, makeToolCall, makeToolResult, toTexts, toThoughts, withAttachments } from "../messages.ts";
import { formatUrl, parseDataUrlType } from "../pictures.ts";
import type { SessionBuilder } from "../session-builder.ts";
import { asCount, asFields, asString, joinTexts, toWords } from "../values.ts";
import { type RequestUsage, readUsed, sumUsed, usedKinds } from "./requests.ts";

const skippedKinds = toWords(`
  checkpoint_created checkpoint_saved api_req_retried api_req_retry_delayed api_req_rate_limit_wait api_req_deleted
  mcp_server_request_started load_mcp_documentation task_progress user_edit_todos conditional_rules_applied
  too_many_tools_warning hook_status resume_task resume_completed_task report_bug compaction image generate_explanation
  auto_approval_max_req_reached codebase_search_result shell_integration_warning_with_suggestion`);

const noticeKinds = toWords(`
  error diff_error clineignore_error rooignore_error shell_integration_warning condense_context_error info
  hook_output_stream command_permission_denied mcp_notification api_req_failed mistake_limit_reached condense
  summarize_task user_feedback_diff`);

const withResult = new Set([
  "listFilesTopLevel",
  "listFilesRecursive",
  "listCodeDefinitionNames",
  "searchFiles",
  "codebaseSearch",
]);

/** Some tasks keep no conversation. */
export class Display {
  readonly #sink: Sink;
  readonly #session: SessionBuilder;
  #isFirst = true;
  #pending: RequestUsage[] = [];
  #call: { id: string; kind: string; output: string[] } | undefined;
  #calls = 0;
  #lastText = "";

  constructor(sink: Sink, session: SessionBuilder) {
    this.#sink = sink;
    this.#session = session;
  }

  add(message: Fields): void {
    const kind = asString(message.type === "ask" ? message.ask : message.say) ?? asString(message.say) ?? "(none)";
    const at = asCount(message.ts);
    const output = this.#readOutput(kind, message);
    if (output !== undefined) {
      this.#call?.output.push(output);
      return;
    }
    if (usedKinds.has(kind)) this.#pending.push(readUsed(message));
    if (usedKinds.has(kind) || skippedKinds.has(kind) || message.partial === true) {
      this.#sink.skipped();
      return;
    }
    this.#endCall();
    const messages = this.#readMessages(kind, message);
    if (messages.length === 0) this.#sink.skipped();
    this.#isFirst = false;
    this.#send(messages, at);
  }

  #send(messages: Message[], at?: number): void {
    const isAnswer = messages.some(({ role }) => role === "assistant");
    const { usage, costUsd } = isAnswer ? sumUsed(this.#pending) : {};
    if (isAnswer) this.#pending = [];
    this.#session.send(messages, { at, usage, costUsd });
  }

  #readOutput(kind: string, { text }: Fields): string | undefined {
    const expected = { command: "command_output", mcp: "mcp_server_response", newTask: "subtask_result" };
    if (!this.#call || expected[this.#call.kind as keyof typeof expected] !== kind) return undefined;
    return asString(text) ?? "";
  }

  #endCall(): void {
    const call = this.#call;
    this.#call = undefined;
    const output = call?.output.filter(Boolean).join("\n") ?? "";
    if (call && call.output.length > 0) this.#session.send([makeToolResult(output, { callId: call.id })]);
  }

  #readMessages(kind: string, message: Fields): Message[] {
    const text = asString(message.text) ?? "";
    switch (kind) {
      case "task":
      case "text":
        return this.#isFirst || kind === "task" ? makeUserMessage(text, message) : this.#readSaid(text, message);
      case "user_feedback":
        return makeUserMessage(text, message);
      case "reasoning":
        return toThoughts(text || message.reasoning);
      case "completion_result":
      case "plan_completion_result":
        return this.#readSaid(text.replace(/HAS_CHANGES$/, ""), message);
      case "plan_mode_respond":
      case "act_mode_respond":
        return this.#readSaid(asString(parseFields(text)?.response) ?? text, message);
      case "condense_context": {
        const summary = asString(asFields(message.contextCondense).summary);
        return [makeNotice(summary ?? "The conversation so far was summarized.")];
      }
      case "sliding_window_truncation":
        return [makeNotice("The beginning of the conversation was left out of further requests.")];
      default:
        if (noticeKinds.has(kind)) return text.trim() === "" ? [] : [makeNotice(text)];
        return this.#readCall(kind, text);
    }
  }

  #readSaid(text: string, message: Fields): Message[] {
    const isRepeated = message.type === "ask" && text === this.#lastText;
    this.#lastText = text;
    return isRepeated ? [] : toTexts("assistant", text);
  }

  #readCall(kind: string, text: string): Message[] {
    const id = `call-${this.#calls++}`;
    const fields = parseFields(text);
    switch (kind) {
      case "tool":
        return this.#readToolCall(id, fields ?? { tool: "tool", input: text });
      case "command":
        return this.#open(id, kind, makeToolCall("execute_command", id, { command: text }));
      case "use_mcp_server": {
        const { type, ...input } = fields ?? { input: text };
        return this.#open(id, "mcp", makeToolCall(asString(type) ?? "use_mcp_tool", id, withArguments(input)));
      }
      case "followup":
        return [makeToolCall("ask_followup_question", id, fields ?? { question: text })];
      case "new_task":
        return this.#open(id, "newTask", makeToolCall(kind, id, { context: text }));
      case "use_subagents":
        return [makeToolCall(kind, id, fields ?? { input: text })];
      case "subagent":
        return [makeNotice(text)];
      case "browser_action_launch":
      case "browser_action":
        return [makeToolCall("browser_action", id, fields ?? { action: "launch", url: text })];
      case "browser_action_result":
      case "command_output":
      case "mcp_server_response":
      case "subtask_result": {
        const { screenshot, ...rest } = fields ?? { output: text };
        const picture = parseDataUrlType(screenshot) ? `\n${formatUrl("image", String(screenshot))}` : "";
        const logs = kind === "browser_action_result" ? JSON.stringify(rest) + picture : text;
        return text.trim() === "" ? [] : [makeToolResult(logs, {})];
      }
      default:
        this.#sink.unhandled(`message.${kind}`);
        return text.trim() === "" ? [] : [makeNotice(text)];
    }
  }

  #open(id: string, kind: string, call: Message): Message[] {
    this.#call = { id, kind, output: [] };
    return [call];
  }

  #readToolCall(id: string, { tool, ...input }: Fields): Message[] {
    const name = asString(tool) ?? "tool";
    if (name === "newTask") return this.#open(id, name, makeToolCall(name, id, input));
    if (!withResult.has(name) || typeof input.content !== "string") return [makeToolCall(name, id, input)];
    const { content, ...rest } = input;
    return [makeToolCall(name, id, rest), makeToolResult(String(content), { callId: id })];
  }

  end(): void {
    this.#endCall();
    const { usage, costUsd } = sumUsed(this.#pending);
    if (costUsd) this.#session.send([makeNotice("The last request had no answer.")], { usage, costUsd });
    else if (usage) this.#session.addUsage(usage);
  }
}

function makeUserMessage(text: string, { images, files }: Fields): Message[] {
  const listed = Array.isArray(images) ? images : [];
  const attached = [
    ...listed.map((image) => ({ type: parseDataUrlType(image) ?? "image" })),
    ...(Array.isArray(files) ? files.map((file) => ({ name: String(file) })) : []),
  ];
  if (text.trim() === "" && attached.length === 0) return [];
  const pictures = listed.flatMap((image) => (parseDataUrlType(image) ? formatUrl("image", String(image)) : []));
  const content = joinTexts([text, ...pictures]) || attached.map(() => "[image]").join(" ");
  return [withAttachments({ role: "user", content }, attached)];
}

function parseFields(text: string): Fields | undefined {
  const value = /^\s*\{/.test(text) ? parseJson(text) : undefined;
  return isFields(value) ? value : undefined;
}

function withArguments(input: Fields): Fields {
  const given = typeof input.arguments === "string" ? parseFields(input.arguments) : undefined;
  return given ? { ...input, arguments: given } : input;
}
