import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { homeRoot } from "../search-roots.ts";
import { findSessions, readDatabase } from "../sqlite.ts";
import { listSessions, readSession, source } from "./database.ts";

/**
 * A compaction keeps what it replaced, and writes the latest rows again. The end of a session's parent shows what
 * began the session. Only a session's sum of tokens is known.
 */
export const hermes: Adapter = {
  name: source,
  title: "Hermes Agent",
  version: 2,
  searchRoots: (host) => [getRoot(host)],
  async *discover(host) {
    for (const folder of foldersIn(getRoot(host).path)) {
      const database = join(folder, "state.db");
      yield* await findSessions(database, listSessions);
    }
  },
  parse: ({ path }, sink) => readDatabase(path, sink, listSessions, (database, id) => readSession(database, id, sink)),
};

const getRoot = (host: Host): SearchRoot => homeRoot(host, "HERMES_HOME", ".hermes");

function foldersIn(root: string): string[] {
  try {
    return [root, ...readdirSync(join(root, "profiles")).map((name) => join(root, "profiles", name))];
  } catch {
    return [root];
  }
}
