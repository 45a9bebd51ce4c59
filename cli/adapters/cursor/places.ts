import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { listFolder, statInput } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Host, SearchRoot } from "../adapter.ts";
import { hasColumn, openDatabase, readColumnText } from "../sqlite.ts";
import { uriPath } from "../uri.ts";
import { asString } from "../values.ts";
import { folderNamed } from "./named-folder.ts";

/** The folder of the editor's settings and storage. */
function editorFolder({ home, env, platform }: Host): string {
  if (platform === "darwin") return join(home, "Library", "Application Support", "Cursor", "User");
  if (platform === "win32") return join(env.APPDATA || join(home, "AppData", "Roaming"), "Cursor", "User");
  return join(env.XDG_CONFIG_HOME || join(home, ".config"), "Cursor", "User");
}

const globalStorage = (host: Host): string => join(editorFolder(host), "globalStorage");

/** The editor's database of conversations. */
export const editorDatabase = (host: Host): string => join(globalStorage(host), "state.vscdb");

/** The folders below `~/.cursor` with the CLI's databases, and with transcripts. */
export function dataFolders({ home, env }: Host): { stores: string[]; projects: string } {
  const folder = env.CURSOR_DATA_DIR || join(home, ".cursor");
  return { stores: [join(folder, "chats"), join(folder, "acp-sessions")], projects: join(folder, "projects") };
}

export function searchRoots(host: Host): SearchRoot[] {
  const { stores, projects } = dataFolders(host);
  const variable = host.env.CURSOR_DATA_DIR ? { variable: "CURSOR_DATA_DIR" } : {};
  return [{ path: globalStorage(host) }, ...[...stores, projects].map((path) => ({ path, ...variable }))];
}

/** A folder's path from a `file:` URL, on any system, or from that of a machine or container to which the editor connects. */
export function parseFolderUrl(url: unknown): string | undefined {
  const text = asString(url);
  if (text?.startsWith("vscode-remote://")) return uriPath(text);
  if (!text?.startsWith("file://")) return undefined;
  try {
    return fileURLToPath(text, { windows: /^file:\/\/(?:\/[A-Za-z](?::|%3A)|[^/])/i.test(text) });
  } catch {
    return undefined; // such as an encoded slash in a name
  }
}

/** The folder that a conversation names as its workspace. */
export function getWorkspaceFolder(workspace: unknown): string | undefined {
  if (!isFields(workspace)) return undefined;
  const { uri } = workspace;
  if (!isFields(uri)) return parseFolderUrl(uri);
  return asString(uri.fsPath) ?? parseFolderUrl(uri.external) ?? asString(uri.path);
}

/** Of a conversation that does not name its folder: the folders of workspaces, and the workspaces that list it. */
type Workspaces = { folders: Map<string, string>; byConversation: Map<string, string> };

/** Each workspace has a database of its own, and a conversation of an older version needs all of them. */
const keepMs = 10_000;
let kept: { storage: string; at: number; workspaces: Workspaces } | undefined;

/** The folder of a conversation by the workspaces beside the editor's database. */
export async function findFolder(
  database: DatabaseSync,
  databasePath: string,
  id: string,
  workspaceId: unknown,
): Promise<string | undefined> {
  const header = folderInHeaders(database, id);
  if (header) return header;
  const storage = join(dirname(dirname(databasePath)), "workspaceStorage");
  if (kept?.storage !== storage || Date.now() - kept.at > keepMs) {
    const workspaces = await readWorkspaces(storage);
    for (const [conversation, folder] of listedHeaders(database)) workspaces.byConversation.set(conversation, folder);
    kept = { storage, at: Date.now(), workspaces };
  }
  const { folders, byConversation } = kept.workspaces;
  return folders.get(asString(workspaceId) ?? "") ?? byConversation.get(id);
}

function folderInHeaders(database: DatabaseSync, id: string): string | undefined {
  try {
    const row = database.prepare("SELECT value FROM composerHeaders WHERE composerId = ?").get(id);
    const value = parseJson(readColumnText(row?.value) ?? "");
    return isFields(value) ? getWorkspaceFolder(value.workspaceIdentifier) : undefined;
  } catch {
    return undefined; // versions before 3.9 have no such table
  }
}

/** The folders of conversations in the list that versions before that table keep of all of them, and write when they end. */
function listedHeaders(database: DatabaseSync): [id: string, folder: string][] {
  const listed = hasColumn(database, "ItemTable", "value")
    ? database.prepare("SELECT value FROM ItemTable WHERE key = 'composer.composerHeaders'").get()?.value
    : undefined;
  const value = parseJson(readColumnText(listed) ?? "");
  const headers = isFields(value) && Array.isArray(value.allComposers) ? value.allComposers.filter(isFields) : [];
  return headers.flatMap(({ composerId, workspaceIdentifier }) => {
    const folder = getWorkspaceFolder(workspaceIdentifier);
    return asString(composerId) && folder ? [[String(composerId), folder] as [string, string]] : [];
  });
}

async function readWorkspaces(storage: string): Promise<Workspaces> {
  const workspaces: Workspaces = { folders: new Map(), byConversation: new Map() };
  for (const { name } of await listFolder(storage)) {
    const about = await readJsonFile(join(storage, name, "workspace.json")).catch(() => undefined);
    const folder = isFields(about) ? (parseFolderUrl(about.folder) ?? getFileFolder(about.workspace)) : undefined;
    if (!folder) continue;
    workspaces.folders.set(name, folder);
    for (const id of await listConversationIds(join(storage, name, "state.vscdb"))) {
      if (!workspaces.byConversation.has(id)) workspaces.byConversation.set(id, folder);
    }
  }
  return workspaces;
}

/** The folder that holds a `.code-workspace` file. */
function getFileFolder(url: unknown): string | undefined {
  const path = parseFolderUrl(url);
  return path && dirname(path);
}

const viewPrefix = "workbench.panel.aichat.view.";
const paneKey = "workbench.panel.composerChatViewPane";

async function listConversationIds(path: string): Promise<string[]> {
  if (!(await statInput(path))) return [];
  try {
    const database = await openDatabase(path);
    try {
      const rows = database
        .prepare("SELECT key, value FROM ItemTable WHERE key = 'composer.composerData' OR key >= ? AND key < ?")
        .all(paneKey, `${paneKey}/`);
      return rows.flatMap(({ value }) => idsIn(parseJson(readColumnText(value) ?? "")));
    } finally {
      database.close();
    }
  } catch {
    return []; // another version's database, or one that can't be read: the project stays unknown
  }
}

function idsIn(value: unknown): string[] {
  if (!isFields(value)) return [];
  const composers = Array.isArray(value.allComposers) ? value.allComposers : [];
  const selected = Array.isArray(value.selectedComposerIds) ? value.selectedComposerIds : [];
  const views = Object.keys(value).filter((key) => key.startsWith(viewPrefix));
  return [
    ...composers.map((one) => (isFields(one) ? one.composerId : undefined)),
    ...selected,
    ...views.map((key) => key.slice(viewPrefix.length)),
  ].flatMap((id) => asString(id) ?? []);
}

/** What stands beside a CLI session's database. */
export async function readStoreAbout(store: string): Promise<Fields> {
  const about = await readJsonFile(join(dirname(store), "meta.json"));
  return isFields(about) ? about : {};
}

/** The folder of a project whose transcripts are in `projects/NAME`: the one noted there, else the only one that has the name. */
export async function findProjectFolder(transcript: string): Promise<string | undefined> {
  for (let folder = dirname(transcript); dirname(folder) !== folder; folder = dirname(folder)) {
    if (basename(folder) !== "agent-transcripts") continue;
    const trusted = await readJsonFile(join(dirname(folder), ".workspace-trusted"));
    const noted = isFields(trusted) ? asString(trusted.workspacePath) : undefined;
    return noted ?? (await folderNamed(basename(dirname(folder))));
  }
  return undefined;
}
