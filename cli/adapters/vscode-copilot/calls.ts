import { type Fields, isFields } from "../../files/json.ts";
import type { Message } from "../adapter.ts";
import { makeToolCall, makeToolResult } from "../messages.ts";
import { formatData } from "../pictures.ts";
import { asCount, asFields, asString, joinTexts, listFields } from "../values.ts";

type ModelCall = { id: string; name: string | undefined; input: unknown };

export const getMarkdown = (value: unknown): string =>
  asString(value) ?? (isFields(value) ? (asString(value.value) ?? "") : "");

export class TurnCalls {
  readonly #calls: ModelCall[];
  readonly #results: Fields;
  readonly #claimed = new Set<ModelCall>();

  constructor(metadata: Fields) {
    const rounds = listFields(metadata.toolCallRounds);
    const calls = rounds.flatMap(({ toolCalls }) => listFields(toolCalls));
    this.#calls = calls.map(({ id, name, arguments: input }) => ({
      id: asString(id) ?? "",
      name: asString(name),
      input,
    }));
    this.#results = asFields(metadata.toolCallResults);
  }

  /** Older versions show another id than the model's. */
  readMessages(shown: Fields, modelId?: string): Message[] {
    const id = asString(shown.toolCallId) ?? asString(shown.id);
    const sought = (modelId ?? id)?.split("__vscode-")[0];
    const call = this.#calls.find((one) => sought !== undefined && one.id.split("__vscode-")[0] === sought);
    if (call) this.#claimed.add(call);
    const data = asFields(shown.toolSpecificData);
    const details = asFields(shown.resultDetails);
    const name = call?.name ?? asString(shown.toolId) ?? "tool";
    const input = call?.input ?? asString(details.input) ?? data.rawInput ?? readInput(data) ?? describe(shown);
    const output = (call && this.#readOutput(call.id)) ?? readShownOutput(data, shown.resultDetails);
    const message = makeToolCall(name, id, input);
    if (output === undefined && shown.isComplete !== true) return [message];
    const { exitCode, duration } = asFields(data.terminalCommandState);
    const outcome = { callId: id, isError: details.isError === true, exitCode, durationMs: asCount(duration) };
    return [message, makeToolResult(output ?? "", outcome)];
  }

  #readOutput(id: string): string | undefined {
    const result = this.#results[id];
    if (!isFields(result) || !Array.isArray(result.content)) return undefined;
    return joinTexts(result.content.map((part) => readPart(part)));
  }

  listRemaining(): Message[] {
    return this.#calls
      .filter((call) => !this.#claimed.has(call))
      .flatMap((call) => {
        const output = this.#readOutput(call.id);
        const message = makeToolCall(call.name ?? "tool", call.id || undefined, call.input);
        return output === undefined ? [message] : [message, makeToolResult(output, { callId: call.id })];
      });
  }

  /** If no shown id is the model's, the calls match in order. */
  matchIdsByOrder(shown: Fields[]): Map<unknown, string> {
    const known = new Set(this.#calls.map(({ id }) => id.split("__vscode-")[0]));
    const isByOrder =
      shown.length === this.#calls.length && shown.every(({ toolCallId }) => !known.has(String(toolCallId)));
    return new Map(isByOrder ? shown.map(({ toolCallId }, at) => [toolCallId, this.#calls[at]?.id ?? ""]) : []);
  }
}

function readInput(data: Fields): Fields | undefined {
  switch (data.kind) {
    case "terminal": {
      const line = asFields(data.commandLine);
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

const describe = (shown: Fields): Fields | undefined => {
  const message = getMarkdown(shown.pastTenseMessage) || getMarkdown(shown.invocationMessage);
  return message ? { message } : undefined;
};

function readShownOutput(data: Fields, details: unknown): string | undefined {
  const output = asString(asFields(data.terminalCommandOutput).text);
  if (output !== undefined) return output;
  if (data.kind === "subagent" && asString(data.result)) return asString(data.result);
  if (Array.isArray(details)) return details.filter(isFields).map(getPath).filter(Boolean).join("\n");
  if (!isFields(details)) return undefined;
  const parts = Array.isArray(details.output) ? details.output : isFields(details.output) ? [details.output] : [];
  if (details.output === undefined) return undefined;
  return parts.filter(isFields).map(readEmbed).filter(Boolean).join("\n");
}

export function getPath({ uri, fsPath, path, external }: Fields): string {
  if (isFields(uri)) return getPath(uri);
  return asString(fsPath) ?? asString(path) ?? asString(external) ?? "";
}

function readEmbed(part: Fields): string {
  const { mimeType, value, base64Data, isText } = part;
  const isPlain = asString(mimeType) === undefined || isText === true;
  if (isPlain && typeof value === "string") return value;
  return mimeType
    ? formatData(String(mimeType).startsWith("image/") ? "image" : "file", mimeType, base64Data ?? value)
    : "";
}

const maxDepth = 60;

function readPart(part: unknown, depth = 0): string {
  if (typeof part === "string") return part;
  if (!isFields(part) || depth > maxDepth) return "";
  const { value, mimeType, data } = part;
  if (typeof value === "string") return value;
  if (isFields(value) && isFields(value.node)) return readNode(value.node);
  if (isFields(value)) return readPart(value, depth + 1) || JSON.stringify(value);
  return mimeType ? formatData("image", mimeType, data) : "";
}

function readNode(node: Fields, depth = 0): string {
  if (typeof node.text === "string") return node.text;
  if (depth > maxDepth || !Array.isArray(node.children)) return "";
  let text = "";
  for (const child of node.children.filter(isFields)) {
    const isNewLine = child.lineBreakBefore === true && text !== "" && !text.endsWith("\n");
    text += `${isNewLine ? "\n" : ""}${readNode(child, depth + 1)}`;
  }
  return text;
}
