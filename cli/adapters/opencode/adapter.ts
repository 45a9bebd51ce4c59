import { basename, dirname, isAbsolute, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Adapter, Host, SearchRoot, Sink } from "../adapter.ts";
import { findSessions, inputParts, readDatabase } from "../sqlite.ts";
import { databaseStore, listDatabases, listSessions } from "./database.ts";
import { findStoredSessions, openStorage } from "./json-folder.ts";
import { OpencodeSession, source } from "./session.ts";
import type { Store } from "./store.ts";

/**
 * OpenCode: folders of JSON files, and since version 1.2 a SQLite database with the same messages and parts, into which older
 * sessions are copied. A session that is in both is read from the database.
 *
 * - A message's tokens and cost are the sums of its steps'.
 * - Sub-agents' sessions name their parent.
 * - Messages taken back stay in the files until the next prompt: a notice marks where they begin.
 * - Newer versions keep a message in one row, without parts.
 */
export const opencode: Adapter = {
  name: source,
  title: "OpenCode",
  version: 2,
  searchRoots,
  async *discover(host) {
    const known = new Set<string>();
    let isTold = false;
    for (const database of await findDatabases(host)) {
      for (const input of await findSessions(database, (open) => listSessions(database, open))) {
        const { id = input.path } = inputParts(input.path);
        if (known.has(id) || (input.needsNewerNode && isTold)) continue;
        isTold ||= input.needsNewerNode === true;
        known.add(id);
        yield input;
      }
    }
    for await (const input of findStoredSessions(join(dataFolder(host), "storage"))) {
      if (!known.has(basename(input.path, ".json"))) yield input;
    }
  },
  async parse({ path }, sink) {
    if (path.endsWith(".json")) return readSession(openStorage(path, sink), basename(path, ".json"), sink);
    const { database, id: one } = inputParts(path);
    const list = (open: DatabaseSync) => listSessions(database, open);
    try {
      await readDatabase(path, sink, list, (open, id) => readSession(databaseStore(open, id, sink), id, sink));
    } catch (error) {
      if (one !== undefined) throw error;
      sink.lost(`it can't be read: ${(error as Error).message}`);
    }
  },
};

async function readSession(store: Store, id: string, sink: Sink): Promise<void> {
  const details = await store.session();
  if (!details) return;
  sink.skipped();
  await new OpencodeSession(sink, details, id).read(store);
}

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
