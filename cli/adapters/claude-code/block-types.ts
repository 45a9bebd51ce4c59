import type { Fields } from "../../files/json.ts";
import type { Unhandled } from "../adapter.ts";
import { toBlocks } from "../blocks.ts";
import { asString } from "../values.ts";
import { formatFile } from "./attachments.ts";

export const callTypes: ReadonlySet<string> = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);

export const resultTypes: ReadonlySet<string> = new Set([
  "tool_result",
  "mcp_tool_result",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "advisor_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
]);

export const silentTypes: ReadonlySet<string> = new Set([
  "redacted_thinking",
  "fallback",
  "mcp_tool_listing",
  "tool_addition",
  "tool_removal",
]);

const partTexts: Record<string, (part: Fields) => string | undefined> = {
  text: ({ text }) => asString(text),
  image: formatFile,
  document: formatFile,
  search_result: (part) => joinLines(part.title, part.source, joinPartTexts(part.content)),
  browser_state: () => "",
  tool_reference: ({ tool_name }) => asString(tool_name),
  web_search_result: ({ title, url }) => [asString(title), asString(url)].filter(Boolean).join(" "),
  web_fetch_result: (part) => joinLines(part.url, joinPartTexts([part.content])),
  advisor_result: ({ text }) => asString(text),
  advisor_redacted_result: () => "[advice that is encrypted]",
  code_execution_result: readPrinted,
  encrypted_code_execution_result: readPrinted,
  bash_code_execution_result: readPrinted,
  code_execution_output: formatFileId,
  bash_code_execution_output: formatFileId,
  text_editor_code_execution_view_result: ({ content }) => asString(content),
  text_editor_code_execution_create_result: ({ is_file_update }) => (is_file_update === true ? "updated" : "created"),
  text_editor_code_execution_str_replace_result: ({ lines }) => (Array.isArray(lines) ? joinLines(...lines) : ""),
  tool_search_tool_search_result: ({ tool_references: found }) => joinPartTexts(found),
};

export const isFailure = ({ type }: Fields): boolean => typeof type === "string" && type.endsWith("_tool_result_error");

export function readPart(part: Fields, unhandled: Unhandled): string {
  const type = asString(part.type) ?? "(none)";
  if (isFailure(part)) return joinLines(part.error_code, part.error_message);
  const read = Object.hasOwn(partTexts, type) ? partTexts[type] : undefined;
  if (!read) unhandled(`tool_result.${type}`);
  return read?.(part) ?? "";
}

const joinLines = (...texts: unknown[]): string => texts.map(asString).filter(Boolean).join("\n");

function readPrinted({ stdout, stderr, content, encrypted_stdout: hidden }: Fields): string {
  return joinLines(stdout, stderr, hidden ? "[output that is encrypted]" : "", joinPartTexts(content));
}

function formatFileId({ file_id: id }: Fields): string {
  return `[file: ${asString(id) ?? "unknown"}]`;
}

function joinPartTexts(parts: unknown): string {
  const list = typeof parts === "string" || Array.isArray(parts) ? parts : [];
  return joinLines(...toBlocks(list).map((part) => readDocumentText(part) ?? readPart(part, () => {})));
}

function readDocumentText({ type, source }: Fields): string | undefined {
  const [{ type: kind, data } = {} as Fields] = toBlocks([source]);
  return type === "document" && kind === "text" ? asString(data) : undefined;
}
