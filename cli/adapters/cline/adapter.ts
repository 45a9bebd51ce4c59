import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { findFiles, isForbidden, isMissingOrForbidden, listFolder, statInput } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readJsonItems } from "../../files/json-items.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { editorFolders } from "../editor-folders.ts";
import { asString } from "../values.ts";
import { conversationFile, displayFile, noteFile, olderDisplayFile, readMessages, readTask } from "./task.ts";

const files = [conversationFile, displayFile, olderDisplayFile, noteFile];

type Relative = {
  name: string;
  title: string;
  /** The extensions' ids, as their folders are called. */
  extensions: string[];
  /** Folders besides those of the editors that have a folder `tasks`. */
  folders(host: Host): SearchRoot[];
  /** A folder with sessions of Cline's newer form. */
  sessions?(host: Host): SearchRoot;
};

/**
 * Cline and the extensions that come from it: a folder for each task, with what was sent to the model and what was displayed.
 * Both are rewritten whole after each step.
 */
function makeAdapter({ name, title, extensions, folders, sessions }: Relative): Adapter {
  const taskRoots = (host: Host): SearchRoot[] => [
    ...extensions.flatMap((id) => editorFolders(host, "globalStorage", id, "tasks")),
    ...folders(host),
  ];
  return {
    name,
    title,
    version: 4,
    searchRoots: (host) => [...taskRoots(host), ...(sessions ? [sessions(host)] : [])],
    async *discover(host) {
      // An editor that took over another one's files has the same tasks: of each the latest is read.
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
        await readdir(path); // A folder that may not be read is told.
        await readTask(path, name, (await readHistory(dirname(dirname(path)))).get(basename(path)), sink);
      }
    },
  };
}

const forbidden = (path: string): Input => ({ path, bytes: 0, modifiedAt: Date.now(), stamp: "forbidden" });

async function isForbiddenFolder(path: string): Promise<boolean> {
  try {
    await readdir(path);
    return false;
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
    return isForbidden(error);
  }
}

/** The tasks in a folder. Only the folders themselves are listed: those below may have a copy of the project (checkpoints). */
async function* findTasks(root: string): AsyncGenerator<Input> {
  const entries = await listFolder(root);
  if (entries.length === 0 && (await isForbiddenFolder(root))) yield forbidden(root);
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const path = join(root, entry.name);
    const names = new Set((await listFolder(path)).map(({ name }) => name));
    if (names.size === 0 && (await isForbiddenFolder(path))) yield forbidden(path);
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

/** Sessions of the newer form; the folder and title of each are in a file beside its messages, named as their folder. */
async function* findMessages(root: string): AsyncGenerator<Input> {
  for await (const input of findFiles(root, (file) => file.endsWith(".messages.json"))) {
    const folder = dirname(input.path);
    const note = await statInput(join(folder, `${basename(folder)}.json`));
    yield note ? { ...input, stamp: `${input.stamp}|${note.stamp}` } : input;
  }
}

/** What Cline noted on its tasks, by their ids; read once for each version of its file. */
const histories = new Map<string, { stamp: string; notes: Map<string, Fields> }>();

async function readHistory(storage: string): Promise<Map<string, Fields>> {
  const path = join(storage, "state", "taskHistory.json");
  const file = await statInput(path);
  const known = histories.get(path);
  if (!file || known?.stamp === file.stamp) return known?.notes ?? new Map();
  const notes = new Map<string, Fields>();
  const item = (json: string) => {
    const note = parseJson(json);
    const id = isFields(note) ? asString(note.id) : undefined;
    if (!isFields(note) || id === undefined) return;
    const { task, cwdOnTaskInitialization, workspace, modelId } = note;
    notes.set(id, { task: asString(task)?.slice(0, 1000), cwdOnTaskInitialization, workspace, modelId });
  };
  await readJsonItems(path, { list: [], item }, { tooLong() {}, pause: async () => {} });
  histories.set(path, { stamp: file.stamp, notes });
  return notes;
}

const getDataFolder = ({ home, env }: Host): SearchRoot => {
  if (env.CLINE_DATA_DIR) return { path: env.CLINE_DATA_DIR, variable: "CLINE_DATA_DIR" };
  if (env.CLINE_DIR) return { path: join(env.CLINE_DIR, "data"), variable: "CLINE_DIR" };
  return { path: join(home, ".cline", "data") };
};
const below = ({ path, ...root }: SearchRoot, folder: string): SearchRoot => ({ ...root, path: join(path, folder) });

export const cline = makeAdapter({
  name: "cline",
  title: "Cline",
  extensions: ["saoudrizwan.claude-dev"],
  folders: (host) => [below(getDataFolder(host), "tasks")],
  sessions({ env, ...host }) {
    const named = env.CLINE_SESSION_DATA_DIR;
    return named
      ? { path: named, variable: "CLINE_SESSION_DATA_DIR" }
      : below(getDataFolder({ env, ...host }), "sessions");
  },
});

export const rooCode = makeAdapter({
  name: "roo-code",
  title: "Roo Code",
  extensions: ["rooveterinaryinc.roo-cline", "rooveterinaryinc.roo-code-nightly"],
  folders: () => [],
});

export const kiloCode = makeAdapter({
  name: "kilo-code",
  title: "Kilo Code",
  extensions: ["kilocode.kilo-code"],
  folders: ({ home }) => [{ path: join(home, ".kilocode", "cli", "global", "tasks") }],
});
