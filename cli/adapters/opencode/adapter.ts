import { basename, dirname, isAbsolute, join } from "node:path";
import { listFolder } from "../../files/discovery.ts";
import type { Adapter, Host, SearchRoot, Sink } from "../adapter.ts";
import { getDataRoot } from "../search-roots.ts";
import { findSessions, readDatabase, splitInputPath } from "../sqlite.ts";
import { listSessions, openDatabaseStore } from "./database.ts";
import { findStoredSessions, openStorage } from "./json-folder.ts";
import { OpencodeSession, type SessionStore } from "./session.ts";

type OpencodeRelative = {
  name: string;
  title: string;
  version: number;
  folder: string;
  databases: RegExp;
  variable?: string;
};

/**
 * Folders of JSON files, and since version 1.2 a SQLite database, into which older sessions are copied. Each step of a
 * message has its own tokens and cost. A fork begins with copies of another session's messages, with the same times. A
 * notice marks what was taken back.
 */
function makeOpencodeAdapter(relative: OpencodeRelative): Adapter {
  const { name, title, version } = relative;
  return {
    name,
    title,
    version,
    getSearchRoots: (host) => getSearchRoots(relative, host),
    async *discover(host) {
      const known = new Set<string>();
      let isReported = false;
      for (const database of await findDatabases(relative, host)) {
        for (const input of await findSessions(database, listSessions)) {
          const { id = input.path } = splitInputPath(input.path);
          if (known.has(id) || (input.needsNewerNode && isReported)) continue;
          isReported ||= input.needsNewerNode === true;
          known.add(id);
          yield input;
        }
      }
      for await (const input of findStoredSessions(getDataRoot(host, relative.folder, "storage").path)) {
        if (!known.has(basename(input.path, ".json"))) yield input;
      }
    },
    async parse({ path }, sink) {
      if (path.endsWith(".json")) return readSession(name, openStorage(path, sink), basename(path, ".json"), sink);
      try {
        await readDatabase(path, sink, listSessions, (database, id, file) =>
          readSession(name, openDatabaseStore(file, database, id, sink), id, sink),
        );
      } catch (error) {
        if (splitInputPath(path).id !== undefined) throw error;
        sink.lost(`it can't be read: ${(error as Error).message}`);
      }
    },
  };
}

async function readSession(source: string, store: SessionStore, id: string, sink: Sink): Promise<void> {
  const details = await store.session();
  if (!details) return;
  sink.skipped();
  await new OpencodeSession(sink, source, details, id).read(store);
}

function getSearchRoots({ folder, variable = "" }: OpencodeRelative, host: Host): SearchRoot[] {
  const root = getDataRoot(host, folder);
  const named = host.env[variable];
  return named && isAbsolute(named) ? [root, { path: dirname(named), variable }] : [root];
}

async function findDatabases(
  { folder: name, databases, variable = "" }: OpencodeRelative,
  host: Host,
): Promise<string[]> {
  const folder = getDataRoot(host, name).path;
  const names = (await listFolder(folder)).map((entry) => entry.name).filter((one) => databases.test(one));
  const found = names.sort().map((one) => join(folder, one));
  const named = host.env[variable];
  if (!named || named === ":memory:") return found;
  const path = isAbsolute(named) ? named : join(folder, named);
  return [path, ...found.filter((one) => one !== path)];
}

export const opencode = makeOpencodeAdapter({
  name: "opencode",
  title: "OpenCode",
  version: 6,
  folder: "opencode",
  databases: /^opencode(?:-[\w.-]+)?\.db$/,
  variable: "OPENCODE_DB",
});

export const mimocode = makeOpencodeAdapter({
  name: "mimocode",
  title: "MiMo Code",
  version: 4,
  folder: "mimocode",
  databases: /^(?:mimocode|opencode)(?:-[\w.-]+)?\.db$/,
});

export const kilo = makeOpencodeAdapter({
  name: "kilo",
  title: "Kilo",
  version: 5,
  folder: "kilo",
  databases: /^(?:kilo|opencode)(?:-[\w.-]+)?\.db$/,
  variable: "KILO_DB",
});
