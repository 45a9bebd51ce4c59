import { join } from "node:path";
import { isMissingOrForbidden, statInput } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { readLines } from "../../files/line-reader.ts";
import { asString } from "../values.ts";

type Index = { stamp: string; titles: Map<string, string> };

const indexes = new Map<string, Index>();

/** The names that the user gave sessions, by their ids: Codex keeps them in `session_index.jsonl`. The last one counts. */
export async function readTitles(home: string): Promise<ReadonlyMap<string, string>> {
  const path = join(home, "session_index.jsonl");
  const file = await statInput(path);
  const known = indexes.get(path);
  if (!file || known?.stamp === file.stamp) return (file && known?.titles) ?? new Map();
  const titles = new Map<string, string>();
  const take = (line: string) => {
    const entry = parseJson(line);
    const [id, name] = isFields(entry) ? [asString(entry.id), asString(entry.thread_name)] : [];
    if (id && name) titles.set(id, name);
  };
  try {
    await readLines(path, take, { tooLong() {}, pause: async () => {} });
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
  }
  indexes.set(path, { stamp: file.stamp, titles });
  return titles;
}
