import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { notice, thinking, toolCall, toolResult, withMetadata } from "../messages.ts";
import { findTagged, replaceTagged } from "../tags.ts";
import { asString } from "../values.ts";

/** The steps in which tools return something, with the tools that do; those of the others have no step of their own. */
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

type Call = { id: string; name: string };

/** Turns the steps of a conversation into messages, in order. A result belongs to the earliest call that it may be of. */
export class Steps {
  readonly #unhandled: (type: string) => void;
  readonly #areArgumentsQuoted: boolean;
  readonly #taskOutput: (step: number) => string | undefined;
  #pending: Call[] = [];
  /** The model that was chosen last. */
  model: string | undefined;

  /**
   * @param areArgumentsQuoted whether a call's arguments are JSON in texts
   * @param taskOutput what a command printed after its step was written
   */
  constructor(
    unhandled: (type: string) => void,
    areArgumentsQuoted: boolean,
    taskOutput: (step: number) => string | undefined,
  ) {
    this.#unhandled = unhandled;
    this.#areArgumentsQuoted = areArgumentsQuoted;
    this.#taskOutput = taskOutput;
  }

  read(step: Fields): Message[] {
    const type = asString(step.type) ?? "(none)";
    const text = asString(step.content) ?? "";
    // The agent itself cuts long texts off in one of its two transcripts.
    const isCut = Array.isArray(step.truncated_fields) && step.truncated_fields.length > 0;
    const messages = this.#read(type, text, step);
    return isCut ? messages.map((message) => withMetadata(message, { truncated: true })) : messages;
  }

  #read(type: string, text: string, step: Fields): Message[] {
    switch (type) {
      case "USER_INPUT":
        return this.#userMessages(text, step.source === undefined || step.source === "USER_EXPLICIT");
      case "PLANNER_RESPONSE":
        return this.#answerMessages(step, text);
      case "SYSTEM_MESSAGE":
      case "CHECKPOINT":
        return text.trim() ? [notice(text)] : [];
      case "CONVERSATION_HISTORY":
        return [];
      default:
        return this.#resultMessages(type, text, step);
    }
  }

  #userMessages(text: string, isTyped: boolean): Message[] {
    const [, model] = modelChange.exec(text) ?? [];
    if (model) this.model = model.trim();
    this.#pending = [];
    const tagged = findTagged(text, "USER_REQUEST");
    const words = tagged
      .map(({ inner }) => inner.replace(/^\s/, "").replace(/\s$/, ""))
      .filter((one) => one.trim() !== "");
    const around = words.length > 0 ? replaceTagged(text, tagged).trim() : "";
    if (!isTyped || (words.length === 0 && /^\s*</.test(text))) return text.trim() ? [notice(text.trim(), "user")] : [];
    const said = words.length > 0 ? words : [text].filter((one) => one.trim() !== "");
    return [...(around ? [notice(around, "user")] : []), ...said.map((content) => ({ role: "user", content }))];
  }

  #answerMessages(step: Fields, text: string): Message[] {
    const thought = asString(step.thinking);
    const calls = Array.isArray(step.tool_calls) ? step.tool_calls.filter(isFields) : [];
    return [
      ...(thought?.trim() ? [thinking(thought)] : []),
      ...(text.trim() ? [{ role: "assistant", content: text }] : []),
      ...calls.map((call, index) => {
        const name = asString(call.name) ?? "tool";
        // Calls have no ids.
        const id = `${String(step.step_index ?? "")}.${index}`;
        this.#pending.push({ id, name });
        return toolCall(name, id, this.#areArgumentsQuoted ? unquote(call.args) : call.args);
      }),
    ];
  }

  #resultMessages(type: string, text: string, step: Fields): Message[] {
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
      toolResult(output, {
        callId: call?.id,
        isError: step.status === "ERROR",
        exitCode: code === undefined ? undefined : Number(code),
      }),
    ];
  }
}

/** Arguments whose values are JSON in texts. */
function unquote(args: unknown): unknown {
  if (!isFields(args)) return args;
  const entries = Object.entries(args).map(([name, value]) => {
    const inner = typeof value === "string" ? parseJson(value) : undefined;
    return [name, inner === undefined ? value : inner];
  });
  return Object.fromEntries(entries);
}
