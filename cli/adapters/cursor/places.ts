import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { listFolder, statInput } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Host, SearchRoot } from "../adapter.ts";
import { getProgramFolder } from "../search-roots.ts";
import { hasColumn, readColumnText, withDatabase } from "../sqlite.ts";
import { asFields, asString, listFields, parseUriPath } from "../values.ts";
import { findNamedFolder } from "./named-folder.ts";

const getGlobalStorage = (host: Host): string => join(getProgramFolder(host), "Cursor", "User", "globalStorage");

export const getEditorDatabase = (host: Host): string => join(getGlobalStorage(host), "state.vscdb");

export function getDataFolders({ home, env }: Host): { stores: string[]; projects: string } {
  const folder = env.CURSOR_DATA_DIR || join(home, ".cursor");
  return { stores: [join(folder, "chats"), join(folder, "acp-sessions")], projects: join(folder, "projects") };
}

export function getSearchRoots(host: Host): SearchRoot[] {
  const { stores, projects } = getDataFolders(host);
  const variable = host.env.CURSOR_DATA_DIR ? { variable: "CURSOR_DATA_DIR" } : {};
  return [{ path: getGlobalStorage(host) }, ...[...stores, projects].map((path) => ({ path, ...variable }))];
}

/** Accepts `file:` URLs of any system, and those of a machine or container to which the editor connects. */
export function parseFolderUrl(url: unknown): string | undefined {
  const text = asString(url);
  if (text?.startsWith("vscode-remote://")) return parseUriPath(text);
  if (!text?.startsWith("file://")) return undefined;
  try {
    return fileURLToPath(text, { windows: /^file:\/\/(?:\/[A-Za-z](?::|%3A)|[^/])/i.test(text) });
  } catch {
    return undefined;
  }
}

export function getWorkspaceFolder(workspace: unknown): string | undefined {
  if (!isFields(workspace)) return undefined;
  const { uri } = workspace;
  if (!isFields(uri)) return parseFolderUrl(uri);
  return asString(uri.fsPath) ?? parseFolderUrl(uri.external) ?? asString(uri.path);
}

type Workspaces = { folders: Map<string, string>; byConversation: Map<string, string> };

/** A conversation of an older version needs the databases of all workspaces. */
const keepMs = 10_000;
let kept: { storage: string; at: number; workspaces: Workspaces } | undefined;

export async function findFolder(
  database: DatabaseSync,
  databasePath: string,
  id: string,
  workspaceId: unknown,
): Promise<string | undefined> {
  const header = readHeaderFolder(database, id);
  if (header) return header;
  const storage = join(dirname(dirname(databasePath)), "workspaceStorage");
  if (kept?.storage !== storage || Date.now() - kept.at > keepMs) {
    const workspaces = await readWorkspaces(storage);
    for (const [conversation, folder] of listHeaders(database)) workspaces.byConversation.set(conversation, folder);
    kept = { storage, at: Date.now(), workspaces };
  }
  const { folders, byConversation } = kept.workspaces;
  return folders.get(asString(workspaceId) ?? "") ?? byConversation.get(id);
}

function readHeaderFolder(database: DatabaseSync, id: string): string | undefined {
  try {
    const row = database.prepare("SELECT value FROM composerHeaders WHERE composerId = ?").get(id);
    const value = parseJson(readColumnText(row?.value) ?? "");
    return isFields(value) ? getWorkspaceFolder(value.workspaceIdentifier) : undefined;
  } catch {
    return undefined; // Versions before 3.9 have no such table.
  }
}

function listHeaders(database: DatabaseSync): [id: string, folder: string][] {
  const listed = hasColumn(database, "ItemTable", "value")
    ? database.prepare("SELECT value FROM ItemTable WHERE key = 'composer.composerHeaders'").get()?.value
    : undefined;
  const value = parseJson(readColumnText(listed) ?? "");
  const headers = listFields(asFields(value).allComposers);
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

function getFileFolder(url: unknown): string | undefined {
  const path = parseFolderUrl(url);
  return path && dirname(path);
}

const viewPrefix = "workbench.panel.aichat.view.";
const paneKey = "workbench.panel.composerChatViewPane";

async function listConversationIds(path: string): Promise<string[]> {
  if (!(await statInput(path))) return [];
  try {
    const rows = await withDatabase(path, (database) =>
      database
        .prepare("SELECT key, value FROM ItemTable WHERE key = 'composer.composerData' OR key >= ? AND key < ?")
        .all(paneKey, `${paneKey}/`),
    );
    return rows.flatMap(({ value }) => listIds(parseJson(readColumnText(value) ?? "")));
  } catch {
    return [];
  }
}

function listIds(value: unknown): string[] {
  if (!isFields(value)) return [];
  const composers = Array.isArray(value.allComposers) ? value.allComposers : [];
  const selected = Array.isArray(value.selectedComposerIds) ? value.selectedComposerIds : [];
  const views = Object.keys(value).filter((key) => key.startsWith(viewPrefix));
  return [
    ...composers.map((one) => asFields(one).composerId),
    ...selected,
    ...views.map((key) => key.slice(viewPrefix.length)),
  ].flatMap((id) => asString(id) ?? []);
}

export async function findProjectFolder(transcript: string): Promise<string | undefined> {
  for (let folder = dirname(transcript); dirname(folder) !== folder; folder = dirname(folder)) {
    if (basename(folder) !== "agent-transcripts") continue;
    const trusted = await readJsonFile(join(dirname(folder), ".workspace-trusted"));
    const noted = asString(asFields(trusted).workspacePath);
    return noted ?? (await findNamedFolder(basename(dirname(folder))));
  }
  return undefined;
}
