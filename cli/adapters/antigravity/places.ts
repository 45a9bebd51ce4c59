import { join } from "node:path";
import { statInput } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { readLines } from "../../files/line-reader.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Host } from "../adapter.ts";
import { hasSqlite, openDatabase } from "../sqlite.ts";
import { asString } from "../values.ts";

/** The folders of the editor, in its two forms, and of the CLI. */
export const roots = ({ home }: Host): string[] =>
  ["antigravity-cli", "antigravity", "antigravity-ide"].map((name) => join(home, ".gemini", name));

const histories = new Map<string, { stamp: string; folders: Map<string, string> }>();

/** The folder in which a conversation of the CLI was begun: of older versions' only the latest of each folder is known. */
export const findFolder = async (root: string, id: string): Promise<string | undefined> =>
  (await folderInHistory(root, id)) ?? (await folderByLatest(root, id));

/** From the list of each folder's latest conversation. */
async function folderByLatest(root: string, id: string): Promise<string | undefined> {
  const latest = await readJsonFile(join(root, "cache", "last_conversations.json"));
  return Object.entries(isFields(latest) ? latest : {}).find(([, conversation]) => conversation === id)?.[0];
}

/** From the history of what was typed. */
async function folderInHistory(root: string, id: string): Promise<string | undefined> {
  const path = join(root, "history.jsonl");
  const file = await statInput(path);
  if (!file) return undefined;
  const known = histories.get(path);
  if (known?.stamp === file.stamp) return known.folders.get(id);
  const folders = new Map<string, string>();
  const take = (line: string) => {
    const entry = parseJson(line);
    const [conversation, folder] = isFields(entry) ? [asString(entry.conversationId), asString(entry.workspace)] : [];
    if (conversation && folder && !folders.has(conversation)) folders.set(conversation, folder);
  };
  await readLines(path, take, { tooLong() {}, pause: async () => {} });
  histories.set(path, { stamp: file.stamp, folders });
  return folders.get(id);
}

/** The title that the agent gave a conversation; it comes late, or never. */
export async function readTitle(root: string, id: string): Promise<string | undefined> {
  const path = join(root, "conversation_summaries.db");
  if (!hasSqlite() || !(await statInput(path))) return undefined;
  try {
    const database = await openDatabase(path);
    try {
      const row = database.prepare("SELECT title FROM conversation_summaries WHERE conversation_id = ?").get(id);
      return asString(row?.title)?.trim();
    } finally {
      database.close();
    }
  } catch {
    return undefined; // another version's: the title stays unknown
  }
}
