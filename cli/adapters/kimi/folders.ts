import { join } from "node:path";
import { isMissingOrForbidden, statInput } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { readLines } from "../../files/line-reader.ts";
import { asString } from "../values.ts";

type Index = { stamp: string; folders: Map<string, string> };

const indexes = new Map<string, Index>();

/** The folders of sessions by their ids, which Kimi Code lists in `session_index.jsonl`: older ones note theirs nowhere else. */
export async function readFolders(home: string): Promise<ReadonlyMap<string, string>> {
  const path = join(home, "session_index.jsonl");
  const file = await statInput(path);
  const known = indexes.get(path);
  if (!file || known?.stamp === file.stamp) return (file && known?.folders) ?? new Map();
  const folders = new Map<string, string>();
  const take = (line: string) => {
    const entry = parseJson(line);
    const [id, folder] = isFields(entry) ? [asString(entry.sessionId), asString(entry.workDir)] : [];
    if (id && folder) folders.set(id, folder);
  };
  try {
    await readLines(path, take, { tooLong() {}, pause: async () => {} });
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
  }
  indexes.set(path, { stamp: file.stamp, folders });
  return folders;
}
