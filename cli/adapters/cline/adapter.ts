import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findFiles, isForbidden, isMissingOrForbidden, listFolder, statInput } from "../../files/discovery.ts";
import { cacheByStamp } from "../../files/file-cache.ts";
import { type Fields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { getEditorFolders, getHomeRoot } from "../search-roots.ts";
import { addStamp } from "../session-files.ts";
import { silentSink } from "../sinks.ts";
import { asFields, asString } from "../values.ts";
import { conversationFile, displayFile, noteFile, olderDisplayFile, readMessages, readTask } from "./task.ts";

const files = [conversationFile, displayFile, olderDisplayFile, noteFile];

type TaskExtension = {
  name: string;
  title: string;
  extensions: string[];
  folders(host: Host): SearchRoot[];
  sessions?(host: Host): SearchRoot;
};

function makeTaskAdapter({ name, title, extensions, folders, sessions }: TaskExtension): Adapter {
  const taskRoots = (host: Host): SearchRoot[] => [
    ...extensions.flatMap((id) => getEditorFolders(host, "globalStorage", id, "tasks")),
    ...folders(host),
  ];
  return {
    name,
    title,
    version: 4,
    getSearchRoots: (host) => [...taskRoots(host), ...(sessions ? [sessions(host)] : [])],
    async *discover(host) {
      // An editor that took over another one's files has the same tasks.
      const latest = new Map<string, Input>();
      for (const { path } of taskRoots(host)) {
        for await (const input of findTasks(path)) {
          const key = input.stamp === "forbidden" ? input.path : basename(input.path);
          if ((latest.get(key)?.modifiedAt ?? 0) < input.modifiedAt) latest.set(key, input);
        }
      }
      yield* latest.values();
      if (sessions) yield* findMessages(sessions(host).path);
    },
    async parse({ path }, sink) {
      if (path.endsWith(".messages.json")) await readMessages(path, name, sink);
      else {
        await readdir(path); // This throws if the folder may not be read.
        const history = await readHistory(join(dirname(dirname(path)), "state", "taskHistory.json"));
        await readTask(path, name, history.get(basename(path)), sink);
      }
    },
  };
}

const makeForbiddenInput = (path: string): Input => ({ path, bytes: 0, modifiedAt: Date.now(), stamp: "forbidden" });

async function isForbiddenFolder(path: string): Promise<boolean> {
  try {
    await readdir(path);
    return false;
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
    return isForbidden(error);
  }
}

/** Folders below a task's may have a copy of the project (checkpoints). */
async function* findTasks(root: string): AsyncGenerator<Input> {
  const entries = await listFolder(root);
  if (entries.length === 0 && (await isForbiddenFolder(root))) yield makeForbiddenInput(root);
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const path = join(root, entry.name);
    const names = new Set((await listFolder(path)).map(({ name }) => name));
    if (names.size === 0 && (await isForbiddenFolder(path))) yield makeForbiddenInput(path);
    if (!files.some((file) => file !== noteFile && names.has(file))) continue;
    const found = await Promise.all(files.map((file) => (names.has(file) ? statInput(join(path, file)) : undefined)));
    const inputs = found.filter((input) => input !== undefined);
    if (inputs.length === 0) continue;
    yield {
      path,
      bytes: inputs.reduce((sum, { bytes }) => sum + bytes, 0),
      modifiedAt: Math.max(...inputs.map(({ modifiedAt }) => modifiedAt)),
      stamp: found.map((input) => input?.stamp ?? "").join("|"),
    };
  }
}

async function* findMessages(root: string): AsyncGenerator<Input> {
  for await (const input of findFiles(root, (file) => file.endsWith(".messages.json"))) {
    const folder = dirname(input.path);
    yield await addStamp(input, join(folder, `${basename(folder)}.json`));
  }
}

const readHistory = cacheByStamp(async (path) => {
  const notes = new Map<string, Fields>();
  const item = (json: string) => {
    const note = asFields(parseJson(json));
    const id = asString(note.id);
    if (id === undefined) return;
    const { task, cwdOnTaskInitialization, workspace, modelId } = note;
    notes.set(id, { task: asString(task)?.slice(0, 1000), cwdOnTaskInitialization, workspace, modelId });
  };
  await readJsonItems(path, { list: [], item }, silentSink);
  return notes;
}, new Map<string, Fields>());

const getClineRoot = (host: Host, folder: string): SearchRoot =>
  host.env.CLINE_DATA_DIR
    ? getHomeRoot(host, "CLINE_DATA_DIR", "", folder)
    : getHomeRoot(host, "CLINE_DIR", ".cline", "data", folder);

export const cline = makeTaskAdapter({
  name: "cline",
  title: "Cline",
  extensions: ["saoudrizwan.claude-dev"],
  folders: (host) => [getClineRoot(host, "tasks")],
  sessions: (host) =>
    host.env.CLINE_SESSION_DATA_DIR ? getHomeRoot(host, "CLINE_SESSION_DATA_DIR", "") : getClineRoot(host, "sessions"),
});

export const rooCode = makeTaskAdapter({
  name: "roo-code",
  title: "Roo Code",
  extensions: ["rooveterinaryinc.roo-cline", "rooveterinaryinc.roo-code-nightly"],
  folders: () => [],
});

export const kiloCode = makeTaskAdapter({
  name: "kilo-code",
  title: "Kilo Code",
  extensions: ["kilocode.kilo-code"],
  folders: ({ home }) => [{ path: join(home, ".kilocode", "cli", "global", "tasks") }],
});
