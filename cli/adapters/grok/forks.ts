import { dirname, join } from "node:path";
import { listFolder, statInput } from "../../files/discovery.ts";
import { type Fields, isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Input } from "../adapter.ts";
import { silentSink } from "../sinks.ts";
import { asFields, asString } from "../values.ts";

/** If the original is gone, all lines count as its own if the server has it, and none if not. */
export async function findCopied(
  { path, isStored }: Input,
  { parent_session_id: from }: Fields,
): Promise<(record: Fields) => boolean> {
  const id = asString(from);
  const file = id && (await findLog(dirname(dirname(dirname(path))), id));
  if (!file) return () => id !== undefined && isStored?.(id) === true;
  const keys = new Set<string>();
  await readRecords(file, silentSink, (record) => void keys.add(makeKey(record)));
  return (record) => keys.has(makeKey(record));
}

async function findLog(sessions: string, id: string): Promise<string | undefined> {
  for (const { name } of await listFolder(sessions)) {
    const file = join(sessions, name, id, "updates.jsonl");
    if (await statInput(file)) return file;
  }
  return undefined;
}

function makeKey(record: Fields): string {
  const { update } = isFields(record.params) ? record.params : record;
  const { sessionUpdate, toolCallId, content } = asFields(update);
  const text = isFields(content) ? asString(content.text)?.slice(0, 64) : undefined;
  return [record.timestamp, sessionUpdate, toolCallId, text].join(" ");
}
