import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { toolCall, toolResult } from "../messages.ts";
import { dataText } from "../pictures.ts";
import { asCount, asString } from "../values.ts";

/** A call as it was sent to the model: `{id, name, arguments}`. */
type ModelCall = { id: string; name: string | undefined; input: unknown };

/** A text that is given alone or as Markdown. */
export const getMarkdown = (value: unknown): string =>
  asString(value) ?? (isFields(value) ? (asString(value.value) ?? "") : "");

/** The calls of a turn: what the editor showed of them, joined with what the model sent and got. */
export class Calls {
  readonly #calls: ModelCall[];
  readonly #results: Fields;
  readonly #claimed = new Set<ModelCall>();

  /** @param metadata of the turn's result */
  constructor(metadata: Fields) {
    const rounds = Array.isArray(metadata.toolCallRounds) ? metadata.toolCallRounds.filter(isFields) : [];
    const calls = rounds.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls.filter(isFields) : []));
    this.#calls = calls.map(({ id, name, arguments: input }) => ({
      id: asString(id) ?? "",
      name: asString(name),
      input,
    }));
    this.#results = isFields(metadata.toolCallResults) ? metadata.toolCallResults : {};
  }

  /** A shown call and its result. The model's id is the shown one with a suffix; older versions show another. */
  messages(shown: Fields, modelId?: string): Message[] {
    const id = asString(shown.toolCallId) ?? asString(shown.id);
    const sought = (modelId ?? id)?.split("__vscode-")[0];
    const call = this.#calls.find((one) => sought !== undefined && one.id.split("__vscode-")[0] === sought);
    if (call) this.#claimed.add(call);
    const data = isFields(shown.toolSpecificData) ? shown.toolSpecificData : {};
    const details = isFields(shown.resultDetails) ? shown.resultDetails : {};
    const name = call?.name ?? asString(shown.toolId) ?? "tool";
    const input = call?.input ?? asString(details.input) ?? data.rawInput ?? readInput(data) ?? described(shown);
    const output = (call && this.#readOutput(call.id)) ?? shownOutput(data, shown.resultDetails);
    const message = toolCall(name, id, input);
    if (output === undefined && shown.isComplete !== true) return [message];
    const state = isFields(data.terminalCommandState) ? data.terminalCommandState : {};
    const durationMs = asCount(state.duration);
    const outcome = { callId: id, isError: details.isError === true, exitCode: getExitCode(state), durationMs };
    return [message, toolResult(output ?? "", outcome)];
  }

  #readOutput(id: string): string | undefined {
    const result = this.#results[id];
    if (!isFields(result) || !Array.isArray(result.content)) return undefined;
    return result.content
      .map((part) => partText(part))
      .filter(Boolean)
      .join("\n");
  }

  /** Calls that the editor did not show. */
  rest(): Message[] {
    return this.#calls
      .filter((call) => !this.#claimed.has(call))
      .flatMap((call) => {
        const output = this.#readOutput(call.id);
        const message = toolCall(call.name ?? "tool", call.id || undefined, call.input);
        return output === undefined ? [message] : [message, toolResult(output, { callId: call.id })];
      });
  }

  /** Where no id is the model's and there are as many calls as shown ones, they go by their order: their ids by the shown ones. */
  idsInOrder(shown: Fields[]): Map<unknown, string> {
    const known = new Set(this.#calls.map(({ id }) => id.split("__vscode-")[0]));
    const isByOrder =
      shown.length === this.#calls.length && shown.every(({ toolCallId }) => !known.has(String(toolCallId)));
    return new Map(isByOrder ? shown.map(({ toolCallId }, at) => [toolCallId, this.#calls[at]?.id ?? ""]) : []);
  }
}

const getExitCode = ({ exitCode }: Fields): number | undefined =>
  Number.isSafeInteger(exitCode) ? Number(exitCode) : undefined;

function readInput(data: Fields): Fields | undefined {
  switch (data.kind) {
    case "terminal": {
      const line = isFields(data.commandLine) ? data.commandLine : {};
      const command = [line.userEdited, line.toolEdited, line.original, data.command].map(asString).find(Boolean);
      return command ? { command } : undefined;
    }
    case "subagent":
      return { description: data.description, prompt: data.prompt, subagent_type: data.agentName };
    case "todoList":
      return { todoList: data.todoList };
    default:
      return undefined;
  }
}

const described = (shown: Fields): Fields | undefined => {
  const message = getMarkdown(shown.pastTenseMessage) || getMarkdown(shown.invocationMessage);
  return message ? { message } : undefined;
};

/** What the editor showed of a result: texts, and paths of files. */
function shownOutput(data: Fields, details: unknown): string | undefined {
  const output = isFields(data.terminalCommandOutput) ? asString(data.terminalCommandOutput.text) : undefined;
  if (output !== undefined) return output;
  if (data.kind === "subagent" && asString(data.result)) return asString(data.result);
  if (Array.isArray(details)) return details.filter(isFields).map(getPath).filter(Boolean).join("\n");
  if (!isFields(details)) return undefined;
  const parts = Array.isArray(details.output) ? details.output : isFields(details.output) ? [details.output] : [];
  if (details.output === undefined) return undefined;
  return parts.filter(isFields).map(embedText).filter(Boolean).join("\n");
}

/** A URI's path. */
export function getPath({ uri, fsPath, path, external }: Fields): string {
  if (isFields(uri)) return getPath(uri);
  return asString(fsPath) ?? asString(path) ?? asString(external) ?? "";
}

function embedText(part: Fields): string {
  const { mimeType, value, base64Data, isText } = part;
  const isPlain = asString(mimeType) === undefined || isText === true;
  if (isPlain && typeof value === "string") return value;
  return mimeType
    ? dataText(String(mimeType).startsWith("image/") ? "image" : "file", mimeType, base64Data ?? value)
    : "";
}

const maxDepth = 60;

/** A part of a result: a text, an image, or a tree of texts as `prompt-tsx` builds it. */
function partText(part: unknown, depth = 0): string {
  if (typeof part === "string") return part;
  if (!isFields(part) || depth > maxDepth) return "";
  const { value, mimeType, data } = part;
  if (typeof value === "string") return value;
  if (isFields(value) && isFields(value.node)) return nodeText(value.node);
  if (isFields(value)) return partText(value, depth + 1) || JSON.stringify(value);
  return mimeType ? dataText("image", mimeType, data) : "";
}

/** The leaves' texts, each on a line of its own where its leaf says so. */
function nodeText(node: Fields, depth = 0): string {
  if (typeof node.text === "string") return node.text;
  if (depth > maxDepth || !Array.isArray(node.children)) return "";
  let text = "";
  for (const child of node.children.filter(isFields)) {
    const isNewLine = child.lineBreakBefore === true && text !== "" && !text.endsWith("\n");
    text += `${isNewLine ? "\n" : ""}${nodeText(child, depth + 1)}`;
  }
  return text;
}
