import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeToolCall, makeToolResult, toNotices, toTexts, toThoughts, withMetadata } from "../messages.ts";
import { splitTaggedWords } from "../tags.ts";
import { asString, listFields } from "../values.ts";

const toolsByStep: Record<string, string[]> = {
  RUN_COMMAND: ["run_command", "command_status", "send_command_input"],
  VIEW_FILE: ["view_file", "view_code_item", "view_file_outline", "view_content_chunk"],
  LIST_DIRECTORY: ["list_dir", "list_directory"],
  CODE_ACTION: ["write_to_file", "write_file", "replace_file_content", "multi_replace_file_content"],
  GREP_SEARCH: ["grep_search"],
  FIND: ["find_by_name"],
  SEARCH_WEB: ["search_web"],
  READ_URL_CONTENT: ["read_url_content"],
  GENERATE_IMAGE: ["generate_image"],
  INVOKE_SUBAGENT: ["invoke_subagent", "browser_subagent"],
  ASK_QUESTION: ["ask_question"],
  GENERIC: [],
};

const modelChange = /Model Selection.{0,4}from [^\n]{1,200}? to ([^\n]{1,200}?)\.(?:\s|$)/;

type PendingCall = { id: string; name: string };

/** A result belongs to the earliest call that it may be of. */
export class StepReader {
  readonly #unhandled: Unhandled;
  readonly #areArgumentsQuoted: boolean;
  readonly #taskOutput: (step: number) => string | undefined;
  #pending: PendingCall[] = [];
  model: string | undefined;

  /**
   * @param areArgumentsQuoted a call's arguments are JSON in texts
   * @param taskOutput reads what a command printed later
   */
  constructor(unhandled: Unhandled, areArgumentsQuoted: boolean, taskOutput: (step: number) => string | undefined) {
    this.#unhandled = unhandled;
    this.#areArgumentsQuoted = areArgumentsQuoted;
    this.#taskOutput = taskOutput;
  }

  read(step: Fields): Message[] {
    const type = asString(step.type) ?? "(none)";
    const text = asString(step.content) ?? "";
    // The agent cuts long texts off in one of its two transcripts.
    const isCut = Array.isArray(step.truncated_fields) && step.truncated_fields.length > 0;
    const messages = this.#read(type, text, step);
    return isCut ? messages.map((message) => withMetadata(message, { truncated: true })) : messages;
  }

  #read(type: string, text: string, step: Fields): Message[] {
    switch (type) {
      case "USER_INPUT":
        return this.#readUserMessages(text, step.source === undefined || step.source === "USER_EXPLICIT");
      case "PLANNER_RESPONSE":
        return this.#readAnswer(step, text);
      case "SYSTEM_MESSAGE":
      case "CHECKPOINT":
        return toNotices(text.trim() && text);
      case "CONVERSATION_HISTORY":
        return [];
      default:
        return this.#readResults(type, text, step);
    }
  }

  #readUserMessages(text: string, isTyped: boolean): Message[] {
    const [, model] = modelChange.exec(text) ?? [];
    if (model) this.model = model.trim();
    this.#pending = [];
    const tagged = isTyped ? splitTaggedWords(text, "USER_REQUEST") : undefined;
    if (tagged && tagged.words.length > 0)
      return [...toNotices(tagged.around, "user"), ...tagged.words.flatMap((words) => toTexts("user", words))];
    return isTyped && !/^\s*</.test(text) ? toTexts("user", text) : toNotices(text.trim(), "user");
  }

  #readAnswer(step: Fields, text: string): Message[] {
    return [
      ...toThoughts(step.thinking),
      ...toTexts("assistant", text),
      ...listFields(step.tool_calls).map((call, index) => {
        const name = asString(call.name) ?? "tool";
        const id = `${String(step.step_index ?? "")}.${index}`;
        this.#pending.push({ id, name });
        return makeToolCall(name, id, this.#areArgumentsQuoted ? unquote(call.args) : call.args);
      }),
    ];
  }

  #readResults(type: string, text: string, step: Fields): Message[] {
    const tools = Object.hasOwn(toolsByStep, type) ? toolsByStep[type] : undefined;
    if (!tools) this.#unhandled(type);
    const call = this.#pending.find(({ name }) => tools?.includes(name)) ?? this.#pending[0];
    if (!tools && !call) return [];
    this.#pending = this.#pending.filter((one) => one !== call);
    const isRunning = step.status === "RUNNING" && typeof step.step_index === "number";
    const later = isRunning ? this.#taskOutput(Number(step.step_index)) : undefined;
    const output = [text, later].filter((part) => part?.trim()).join("\n");
    const [, code] =
      /^The command (?:failed|completed|exited)[^\n]*exit code:? (-?\d+)/m.exec(text.slice(0, 500)) ?? [];
    return [
      makeToolResult(output, {
        callId: call?.id,
        isError: step.status === "ERROR",
        exitCode: code === undefined ? undefined : Number(code),
      }),
    ];
  }
}

function unquote(args: unknown): unknown {
  if (!isFields(args)) return args;
  const entries = Object.entries(args).map(([name, value]) => {
    const inner = typeof value === "string" ? parseJson(value) : undefined;
    return [name, inner === undefined ? value : inner];
  });
  return Object.fromEntries(entries);
}
