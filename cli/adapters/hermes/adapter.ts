import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { findSessions, inputParts, readDatabase } from "../sqlite.ts";
import { listSessions, readSession, source } from "./database.ts";

/**
 * Hermes Agent: a SQLite database, and one more for each profile.
 *
 * - A compaction keeps what it replaced, as rows that are not active, and writes the latest ones once more.
 * - A session that a compaction, a branch or a delegation began names its parent; the parent's end tells which it was.
 * - Only a session's sum of tokens is known.
 */
export const hermes: Adapter = {
  name: source,
  title: "Hermes Agent",
  version: 2,
  searchRoots: (host) => [getRoot(host)],
  async *discover(host) {
    for (const folder of foldersIn(getRoot(host).path)) {
      const database = join(folder, "state.db");
      yield* await findSessions(database, (open) => listSessions(database, open));
    }
  },
  async parse({ path }, sink) {
    const { database } = inputParts(path);
    await readDatabase(
      path,
      sink,
      (open) => listSessions(database, open),
      (open, id) => readSession(open, id, sink),
    );
  },
};

function getRoot({ home, env }: Host): SearchRoot {
  if (env.HERMES_HOME) return { path: env.HERMES_HOME, variable: "HERMES_HOME" };
  return { path: join(home, ".hermes") };
}

/** Hermes' own folder, and those of its profiles. */
function foldersIn(root: string): string[] {
  try {
    return [root, ...readdirSync(join(root, "profiles")).map((name) => join(root, "profiles", name))];
  } catch {
    return [root]; // no profiles
  }
}
