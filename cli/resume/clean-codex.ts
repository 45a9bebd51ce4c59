// Removes reasoning, which is encrypted for one organization.

import { asFields } from "../adapters/values.ts";
import { type Fields, isFields, parseJson, toList } from "../files/json.ts";
import type { Cleaned } from "./clean-claude.ts";

type Fork = { id: string; from: string; cwd: string; now: Date };

export function cleanCodex(text: string, { id, from, cwd, now }: Fork): Cleaned {
  let removed = 0;
  let isFirst = true;
  const lines: string[] = [];
  const count = (item: unknown) => {
    const cleaned = cleanItem(item);
    if (cleaned === undefined) removed++;
    return cleaned;
  };
  for (const line of text.split("\n")) {
    const record = parseJson(line);
    if (!isFields(record)) continue;
    const payload = asFields(record.payload);
    const own: Fields = { ...record };
    if (record.type === "response_item") {
      own.payload = count(payload);
      if (own.payload === undefined) continue;
    } else if (record.type === "compacted" && Array.isArray(payload.replacement_history)) {
      const history = payload.replacement_history.map(count).filter((item) => item !== undefined);
      own.payload = { ...payload, replacement_history: history };
    } else if (record.type === "session_meta" && isFirst) {
      isFirst = false;
      const timestamp = now.toISOString();
      const named = "session_id" in payload ? { session_id: id } : {};
      own.payload = { ...payload, id, ...named, forked_from_id: from, timestamp, cwd };
    }
    lines.push(`${JSON.stringify(own)}\n`);
  }
  return { text: lines.join(""), removed };
}

/** @returns undefined if nothing remains without the encrypted part */
function cleanItem(item: unknown): unknown {
  if (!isFields(item)) return item;
  const type = String(item.type);
  if (type === "reasoning" || type === "compaction" || type === "compaction_summary" || type === "context_compaction")
    return undefined;
  const { encrypted_content: _, ...open } = item;
  if (!Array.isArray(open.content)) return "encrypted_content" in item ? open : item;
  const content = toList(open.content).filter((block) => !isFields(block) || block.type !== "encrypted_content");
  if (content.length === open.content.length) return "encrypted_content" in item ? open : item;
  return content.length > 0 ? { ...open, content } : undefined;
}
