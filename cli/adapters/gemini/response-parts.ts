// Gemini CLI and its descendants write content in the shape of Gemini's API.
import { type Fields, isFields } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeAttachment, makeNotice } from "../messages.ts";
import { formatInlineData } from "../pictures.ts";
import { asString, joinTexts, listFields } from "../values.ts";

/** The program puts the content of files that the user names (`@path`) below the user's words. */
const references = /(?<!\s)\s*--- Content from referenced files ---[\s\S]*?(?:--- End of content ---|$)/g;

export function splitUserText(text: string): Message[] {
  const added = text.match(references) ?? [];
  if (added.length === 0) return [{ role: "user", content: text }];
  const own = text.replace(references, "").trim();
  const notices = added.map((part) => makeNotice(part.trim(), "user"));
  return own === "" ? notices : [{ role: "user", content: own }, ...notices];
}

export function readPartText(part: Fields, unhandled: Unhandled): string {
  if (typeof part.text === "string") return part.text;
  if (isFields(part.inlineData)) return formatInlineData(part.inlineData);
  if (isFields(part.fileData)) return `[file: ${asString(part.fileData.fileUri) ?? ""}]`;
  if (isFields(part.executableCode)) return asString(part.executableCode.code) ?? "";
  if (isFields(part.codeExecutionResult)) return asString(part.codeExecutionResult.output) ?? "";
  unhandled(`content.${Object.keys(part)[0] ?? "(none)"}`);
  return "";
}

export const listAttachments = ({ inlineData, fileData }: Fields): Fields[] =>
  [inlineData, fileData]
    .filter(isFields)
    .map(({ mimeType, displayName, fileUri }) => makeAttachment(mimeType, asString(displayName) ?? fileUri));

export function readResponse({ response, parts }: Fields): string {
  const pictures = listFields(parts).map(({ inlineData }) =>
    isFields(inlineData) ? formatInlineData(inlineData) : "",
  );
  return joinTexts([formatResponse(response), ...pictures]);
}

export function formatResponse(response: unknown, fields: readonly string[] = ["output", "error"]): string {
  if (!isFields(response)) return asString(response) ?? "";
  const text = fields.map((field) => asString(response[field])).find(Boolean);
  if (text !== undefined) return text;
  return Object.keys(response).length > 0 && response.output !== "" ? JSON.stringify(response) : "";
}

const ending =
  /(?:^|\n)Exit Code: (-?\d{1,10})(?:\n(?:Signal|Background PIDs|Process Group PGID): [^\n]*)*(?:\n<\/untrusted_context>)?\s*$/;

/** The pattern would search a longer output for too long. */
const maxEndingChars = 10_000;

export function readExitCode(tool: unknown, output: string): number | undefined {
  const code = tool === "run_shell_command" ? ending.exec(output.slice(-maxEndingChars))?.[1] : undefined;
  return code === undefined ? undefined : Number(code);
}
