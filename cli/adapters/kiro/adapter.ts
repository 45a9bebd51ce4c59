import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { makeDatabaseAdapter } from "../make-adapter.ts";
import { getHomeRoot, getLocalDataRoot, getProgramFolder } from "../search-roots.ts";
import { addStamp } from "../session-files.ts";
import { findSessions, readDatabase, splitInputPath } from "../sqlite.ts";
import { source } from "./conversation.ts";
import { listConversations, readConversation } from "./database.ts";
import { readEditorSession } from "./editor.ts";
import { getEventsAbout, readEvents } from "./events.ts";
import { getLogAbout, readLog } from "./log.ts";

const databaseName = "data.sqlite3";
const eventsName = "messages.jsonl";

export const kiro: Adapter = {
  name: source,
  title: "Kiro",
  version: 2,
  getSearchRoots: (host) => Object.values(getRoots(host)),
  async *discover(host) {
    const { data, sessions, editor } = getRoots(host);
    const known = new Set<string>();
    for (const input of await findSessions(join(data.path, databaseName), listConversations)) {
      const { id } = splitInputPath(input.path);
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
        yield await addStamp(input, isEvents ? getEventsAbout(input.path) : getLogAbout(input.path));
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
    await readDatabase(path, sink, listConversations, (database, id) => readConversation(database, id, source, sink));
  },
};

export const amazonQ = makeDatabaseAdapter({
  name: "amazon-q",
  title: "Amazon Q CLI",
  version: 2,
  getSearchRoots: (host) => [getLocalDataRoot(host, "amazon-q")],
  databases: (host) => [getLocalDataRoot(host, "amazon-q", databaseName).path],
  list: listConversations,
  read: (database, id, sink) => readConversation(database, id, "amazon-q", sink),
});

function getRoots(host: Host): Record<"data" | "sessions" | "editor", SearchRoot> {
  return {
    data: getLocalDataRoot(host, "kiro-cli"),
    sessions: getHomeRoot(host, "KIRO_HOME", ".kiro", "sessions"),
    editor: { path: join(getProgramFolder(host), "Kiro", "User", "globalStorage", "kiro.kiroagent") },
  };
}
