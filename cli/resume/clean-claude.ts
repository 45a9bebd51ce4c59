// Removes what the API accepts only from the same account in an unchanged conversation.

import { asFields, asString } from "../adapters/values.ts";
import { type Fields, isFields, parseJson, toList } from "../files/json.ts";

export type Cleaned = { text: string; removed: number };

type Fork = { id: string; from: string; cwd?: string };

const thoughts = new Set(["thinking", "redacted_thinking"]);

export const isThought = (block: unknown): boolean => isFields(block) && thoughts.has(String(block.type));

/**
 * Also removes results of tools that the API ran itself, because they are encrypted for the account.
 *
 * @returns undefined if there is nothing to remove
 */
export function withoutThoughts(record: Fields): { record: Fields | undefined; removed: number } | undefined {
  const message = asFields(record.message);
  if (record.type !== "assistant" || !Array.isArray(message.content)) return undefined;
  const blocks = toList(message.content);
  const kept = blocks.flatMap(cleanBlock);
  if (kept.length === blocks.length && kept.every((block, at) => block === blocks[at])) return undefined;
  const removed = blocks.filter(isThought).length;
  return { record: kept.length > 0 ? { ...record, message: { ...message, content: kept } } : undefined, removed };
}

function cleanBlock(block: unknown): unknown[] {
  if (!isFields(block)) return [block];
  if (isThought(block)) return [];
  const type = String(block.type);
  if (type === "server_tool_use") return [];
  if (!/^(?!tool_result$|mcp_).*_tool_result$/.test(type)) return [block];
  const found = toList(block.content).filter(isFields);
  const lines = found.map(({ title, url }) => [asString(title), asString(url)].filter(Boolean).join(" "));
  const text = lines.filter(Boolean).join("\n");
  return text === "" ? [] : [{ type: "text", text }];
}

/** A fork has no file backups, and logged requests contain thinking. */
const leftOut = /^(?:file-history-snapshot|api-request(?:-\w+)?)$/;

/** Lines that only contain thinking are removed, and the next line's parent becomes the line before. */
export function cleanClaude(text: string, { id, from, cwd }: Fork): Cleaned {
  const parents = new Map<string, unknown>();
  const resolve = (uuid: unknown): unknown => {
    let at = uuid;
    for (let steps = 0; typeof at === "string" && parents.has(at) && steps < 100_000; steps++) at = parents.get(at);
    return at;
  };
  let removed = 0;
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const read = parseJson(line);
    if (!isFields(read) || leftOut.test(String(read.type))) continue;
    const cleaned = withoutThoughts(read);
    removed += cleaned?.removed ?? 0;
    const record = cleaned ? cleaned.record : read;
    if (!record) {
      if (typeof read.uuid === "string") parents.set(read.uuid, read.parentUuid ?? null);
      continue;
    }
    const own: Fields = { ...record };
    for (const name of ["parentUuid", "logicalParentUuid", "leafUuid"]) if (name in own) own[name] = resolve(own[name]);
    if ("sessionId" in own) own.sessionId = id;
    if (cwd !== undefined && "cwd" in own) own.cwd = cwd;
    if (typeof own.uuid === "string") own.forkedFrom ??= { sessionId: from, messageUuid: own.uuid };
    lines.push(`${JSON.stringify(own)}\n`);
  }
  return { text: lines.join(""), removed };
}
