import { basename, dirname, isAbsolute, join } from "node:path";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { databaseProblem, databaseSessionId, findDatabaseSessions, listDatabases, openDatabase } from "./database.ts";
import { findStoredSessions, openStorage } from "./json-folder.ts";
import { OpencodeSession, source } from "./session.ts";

/**
 * OpenCode: folders of JSON files, and since version 1.2 a SQLite database with the same messages and parts, into which older
 * sessions are copied. A session that is in both is read from the database.
 *
 * - A message's tokens are the sum of its steps'.
 * - Sub-agents' sessions name their parent.
 * - Messages taken back stay in the files until the next prompt: a notice marks where they begin.
 */
export const opencode: Adapter = {
  name: source,
  title: "OpenCode",
  version: 1,
  searchRoots,
  async *discover(host) {
    const known = new Set<string>();
    for (const database of await findDatabases(host)) {
      for (const input of await findDatabaseSessions(database)) {
        const id = databaseSessionId(input.path) ?? input.path;
        if (!known.has(id)) yield input;
        known.add(id);
      }
    }
    for await (const input of findStoredSessions(join(dataFolder(host), "storage"))) {
      if (!known.has(basename(input.path, ".json"))) yield input;
    }
  },
  async parse({ path }, sink) {
    const store = path.endsWith(".json") ? openStorage(path, sink) : openDatabase(path, sink);
    if (!store) {
      sink.lost(databaseProblem(path));
      return;
    }
    try {
      const details = await store.session();
      if (!details) return;
      sink.skipped();
      await new OpencodeSession(sink, details, databaseSessionId(path) ?? basename(path, ".json")).read(store);
    } finally {
      store.close();
    }
  },
};

const dataFolder = ({ home, env }: Host): string =>
  join(env.XDG_DATA_HOME || join(home, ".local", "share"), "opencode");

function searchRoots(host: Host): SearchRoot[] {
  const { XDG_DATA_HOME, OPENCODE_DB } = host.env;
  const roots: SearchRoot[] = [{ path: dataFolder(host), ...(XDG_DATA_HOME && { variable: "XDG_DATA_HOME" }) }];
  const named = OPENCODE_DB && isAbsolute(OPENCODE_DB);
  return named ? [...roots, { path: dirname(OPENCODE_DB), variable: "OPENCODE_DB" }] : roots;
}

async function findDatabases(host: Host): Promise<string[]> {
  const folder = dataFolder(host);
  const found = (await listDatabases(folder)).sort().map((name) => join(folder, name));
  const { OPENCODE_DB: named } = host.env;
  if (!named || named === ":memory:") return found;
  const path = isAbsolute(named) ? named : join(folder, named);
  return [path, ...found.filter((one) => one !== path)];
}
