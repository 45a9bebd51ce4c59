import { basename, dirname, join } from "node:path";
import { findFiles, statInput } from "../../files/discovery.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { findSessions, inputParts, readDatabase } from "../sqlite.ts";
import { listConversations, readConversation } from "./database.ts";
import { readEditorSession } from "./editor.ts";
import { aboutEvents, readEvents } from "./events.ts";
import { aboutLog, readLog } from "./log.ts";
import { source } from "./source.ts";

const eventsName = "messages.jsonl";

/**
 * Kiro: the CLI's database, its logs since version 2, the events of the newest versions and of the editor, and the sessions of
 * the editor before. One that is in several places is read once, in this order.
 */
export const kiro: Adapter = {
  name: source,
  title: "Kiro",
  version: 2,
  searchRoots: (host) => Object.values(getRoots(host)),
  async *discover(host) {
    const { data, sessions, editor } = getRoots(host);
    const known = new Set<string>();
    for await (const input of findConversations(join(data.path, "data.sqlite3"))) {
      const { id } = inputParts(input.path);
      if (id !== undefined) known.add(id);
      yield input;
    }
    for await (const input of findFiles(sessions.path, (name) => name.endsWith(".jsonl"))) {
      const isEvents = basename(input.path) === eventsName;
      const isLog = dirname(input.path) === join(sessions.path, "cli");
      const id = isEvents ? basename(dirname(input.path)) : basename(input.path, ".jsonl");
      if (input.stamp === "forbidden") yield input;
      else if ((isEvents || isLog) && !known.has(id)) {
        known.add(id);
        yield await withAbout(input, isEvents ? aboutEvents(input.path) : aboutLog(input.path));
      }
    }
    for await (const input of findFiles(join(editor.path, "workspace-sessions"), (name) => name.endsWith(".json"))) {
      if (input.stamp === "forbidden") yield input;
      else if (basename(input.path) !== "sessions.json" && !known.has(basename(input.path, ".json"))) yield input;
    }
  },
  async parse({ path }, sink) {
    if (path.endsWith(".json")) return readEditorSession(path, sink);
    if (basename(path) === eventsName) return readEvents(path, sink);
    if (path.endsWith(".jsonl")) return readLog(path, sink);
    await readConversations(path, source, sink);
  },
};

/** The conversations of a database of the CLI, or of the one before it, Amazon Q. */
export async function* findConversations(database: string): AsyncGenerator<Input> {
  yield* await findSessions(database, (open) => listConversations(database, open));
}

export async function readConversations(
  path: string,
  from: string,
  sink: Parameters<Adapter["parse"]>[1],
): Promise<void> {
  const { database } = inputParts(path);
  await readDatabase(
    path,
    sink,
    (open) => listConversations(database, open),
    (open, id) => readConversation(open, id, from, sink),
  );
}

/** The folder in which programs keep their data on this system. */
export function localData({ home, env, platform }: Host): SearchRoot {
  if (platform === "darwin") return { path: join(home, "Library", "Application Support") };
  if (platform === "win32") return { path: env.LOCALAPPDATA || join(home, "AppData", "Local") };
  const { XDG_DATA_HOME: data } = env;
  return data ? { path: data, variable: "XDG_DATA_HOME" } : { path: join(home, ".local", "share") };
}

function getRoots(host: Host): Record<"data" | "sessions" | "editor", SearchRoot> {
  const { home, env, platform } = host;
  const data = localData(host);
  const roaming = env.APPDATA || join(home, "AppData", "Roaming");
  const config = platform === "win32" ? roaming : env.XDG_CONFIG_HOME || join(home, ".config");
  const programs = platform === "darwin" ? data.path : config;
  const own: SearchRoot = env.KIRO_HOME
    ? { path: join(env.KIRO_HOME, "sessions"), variable: "KIRO_HOME" }
    : { path: join(home, ".kiro", "sessions") };
  return {
    data: { ...data, path: join(data.path, "kiro-cli") },
    sessions: own,
    editor: { path: join(programs, "Kiro", "User", "globalStorage", "kiro.kiroagent") },
  };
}

/** A log whose stamp also changes with the session's own fields beside it. */
async function withAbout(input: Input, about: string): Promise<Input> {
  const found = await statInput(about);
  return found ? { ...input, stamp: `${input.stamp} ${found.stamp}` } : input;
}
