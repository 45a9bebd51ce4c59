import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { findSessions, inputParts, readDatabase } from "../sqlite.ts";
import { listSessions, readSession } from "./database.ts";
import { readLines } from "./lines.ts";
import { source } from "./messages.ts";

const databaseName = "sessions.db";

/**
 * Goose: a SQLite database, and before version 1.10 a file of JSON lines for each session, which the database took over.
 *
 * - Tools give their output twice, for the model and for the user; what the model got is read.
 * - A summary that replaced the conversation is not shown to the user: it is a notice.
 * - Tokens and costs have a table of their own since 2026; before, only a session's sum is known.
 */
export const goose: Adapter = {
  name: source,
  title: "Goose",
  version: 2,
  searchRoots,
  async *discover(host) {
    const known = new Set<string>();
    for (const { path } of searchRoots(host)) {
      const database = join(path, databaseName);
      for (const input of await findSessions(database, (open) => listSessions(database, open))) {
        const { id } = inputParts(input.path);
        if (id !== undefined && known.has(id)) continue;
        if (id !== undefined) known.add(id);
        yield input;
      }
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl"))) {
        const isSession = dirname(input.path) === path && !known.has(basename(input.path, ".jsonl"));
        if (isSession || input.stamp === "forbidden") yield input;
      }
    }
  },
  async parse({ path }, sink) {
    if (path.endsWith(".jsonl")) return readLines(path, sink);
    const { database } = inputParts(path);
    await readDatabase(
      path,
      sink,
      (open) => listSessions(database, open),
      (open, id) => readSession(open, id, sink),
    );
  },
};

function searchRoots({ home, env, platform }: Host): SearchRoot[] {
  const { GOOSE_PATH_ROOT: root, XDG_DATA_HOME: data, APPDATA: roaming } = env;
  if (root) return [{ path: join(root, "data", "sessions"), variable: "GOOSE_PATH_ROOT" }];
  if (platform === "win32") {
    return [{ path: join(roaming || join(home, "AppData", "Roaming"), "Block", "goose", "data", "sessions") }];
  }
  const shared: SearchRoot = data
    ? { path: join(data, "goose", "sessions"), variable: "XDG_DATA_HOME" }
    : { path: join(home, ".local", "share", "goose", "sessions") };
  if (platform !== "darwin") return [shared];
  return [shared, { path: join(home, "Library", "Application Support", "Block", "goose", "sessions") }];
}
