import { type Fields, isFields, parseJson } from "../../files/json.ts";
import type { Message, Unhandled } from "../adapter.ts";
import { makeNotice, withMetadata } from "../messages.ts";
import { asCount, asFields, asString } from "../values.ts";
import { systemTypes } from "./line-types.ts";

export function readSystemLine(record: Fields, unhandled: Unhandled): Message[] {
  const subtype = asString(record.subtype) ?? ""; // Versions of 2025 wrote none.
  if (subtype !== "" && !systemTypes.has(subtype)) {
    unhandled(`system.${subtype}`);
    return [];
  }
  const text = asString(record.content) ?? getSystemText(subtype, record);
  if (text === undefined || text.trim() === "") return [];
  return subtype === "local_command" ? [{ role: "user", content: text }] : [nameNotice(text, subtype)];
}

const nameNotice = (text: string, subtype: string): Message =>
  subtype ? withMetadata(makeNotice(text), { subtype }) : makeNotice(text);

function getSystemText(subtype: string, record: Fields): string | undefined {
  if (subtype === "api_error") return formatApiError(record);
  if (subtype !== "stop_hook_summary") return undefined;
  const stopped = record.preventedContinuation === true ? asString(record.stopReason) : undefined;
  const texts = [...listTexts(record.hookErrors), ...listTexts(record.hookAdditionalContext), stopped];
  return texts.filter(Boolean).join("\n") || undefined;
}

/** An error is nested as deep as the API and its client wrote it. */
function formatApiError({ error, cause, retryAttempt, maxRetries }: Fields): string {
  const levels: Fields[] = [];
  for (let at: unknown = error ?? cause; isFields(at) && levels.length < 5; at = at.error ?? at.cause) levels.push(at);
  const said = levels.map(({ message, code }) => asString(message) ?? asString(code)).filter(Boolean);
  const status = levels.map((level) => asCount(level.status)).find((one) => one !== undefined);
  const head = status === undefined ? "API error" : `API error ${status}`;
  const [attempt, most] = [asCount(retryAttempt), asCount(maxRetries)];
  const retry = attempt === undefined ? "" : ` (retry ${attempt}${most === undefined ? "" : ` of ${most}`})`;
  return `${head}${said.length > 0 ? `: ${said.at(-1)}` : ""}${retry}`;
}

const hookTypes = new Set([
  "async_hook_response",
  "hook_additional_context",
  "hook_blocking_error",
  "hook_error_during_execution",
  "hook_non_blocking_error",
  "hook_stopped_continuation",
  "hook_success",
  "hook_system_message",
]);

export function readHook(attachment: Fields): Message[] | undefined {
  const type = asString(attachment.type) ?? "";
  if (!hookTypes.has(type)) return undefined;
  const text = readHookText(attachment).trim();
  if (text === "") return [];
  const name = asString(attachment.hookName) ?? asString(attachment.hookEvent) ?? "hook";
  return [nameNotice(`${name} hook\n${text}`, type)];
}

function readHookText({ content, stdout, stderr, blockingError, message, response }: Fields): string {
  const said = listTexts(content).join("\n") || asString(message);
  if (said) return said;
  if (isFields(blockingError)) return asString(blockingError.blockingError) ?? "";
  if (isFields(response)) {
    const specific = asFields(response.hookSpecificOutput);
    return [...listTexts(response.systemMessage), ...listTexts(specific.additionalContext)].join("\n");
  }
  // JSON from a hook is an instruction to the program.
  const printed = asString(stdout)?.trim() ?? "";
  return (isFields(parseJson(printed)) ? "" : printed) || (asString(stderr) ?? "");
}

const listTexts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((part): part is string => typeof part === "string" && part !== "");

/** Older versions kept a hook's context in separate lines. */
export const readSavedHook = (record: Fields): Message[] =>
  readHook({ ...record, type: "hook_additional_context" }) ?? [];
