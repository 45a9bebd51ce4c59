import { join } from "node:path";
import { statInput } from "../../files/discovery.ts";
import { cacheByStamp, readLinesQuietly } from "../../files/file-cache.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Host } from "../adapter.ts";
import { hasSqlite, withDatabase } from "../sqlite.ts";
import { asFields, asString } from "../values.ts";

export const getRoots = ({ home }: Host): string[] =>
  ["antigravity-cli", "antigravity", "antigravity-ide"].map((name) => join(home, ".gemini", name));

/** Older versions only list the latest conversation of each folder. */
export async function findFolder(root: string, id: string): Promise<string | undefined> {
  const inHistory = (await readHistory(join(root, "history.jsonl"))).get(id);
  if (inHistory !== undefined) return inHistory;
  const latest = await readJsonFile(join(root, "cache", "last_conversations.json"));
  return Object.entries(asFields(latest)).find(([, conversation]) => conversation === id)?.[0];
}

const readHistory = cacheByStamp(async (path) => {
  const folders = new Map<string, string>();
  await readLinesQuietly(path, ({ conversationId, workspace }) => {
    const [conversation, folder] = [asString(conversationId), asString(workspace)];
    if (conversation && folder && !folders.has(conversation)) folders.set(conversation, folder);
  });
  return folders;
}, new Map<string, string>());

export async function readTitle(root: string, id: string): Promise<string | undefined> {
  const path = join(root, "conversation_summaries.db");
  if (!hasSqlite() || !(await statInput(path))) return undefined;
  try {
    return await withDatabase(path, (database) => {
      const row = database.prepare("SELECT title FROM conversation_summaries WHERE conversation_id = ?").get(id);
      return asString(row?.title)?.trim();
    });
  } catch {
    return undefined; // Other versions may have another schema.
  }
}
