import { basename, dirname, isAbsolute, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { listFolder } from "../../files/discovery.ts";
import type { Adapter, Host, SearchRoot, Sink } from "../adapter.ts";
import { findSessions, inputParts, readDatabase } from "../sqlite.ts";
import { databaseStore, listSessions } from "./database.ts";
import { findStoredSessions, openStorage } from "./json-folder.ts";
import { OpencodeSession } from "./session.ts";
import type { Store } from "./store.ts";

type Relative = {
  name: string;
  title: string;
  version: number;
  /** Its folder among the user's data. */
  folder: string;
  /** How its databases are called: one per release channel. */
  databases: RegExp;
  /** The variable that names one more database. */
  variable?: string;
};

/**
 * OpenCode, and what comes from it: folders of JSON files, and since version 1.2 a SQLite database with the same messages and
 * parts, into which older sessions are copied. A session that is in both is read from the database.
 *
 * - Each step of a message tells its own tokens and cost; a message has the tokens of its last one.
 * - A fork begins with copies of another session's messages, with their times and tokens, by which they are known.
 * - Sub-agents' sessions name their parent.
 * - Messages taken back stay in the files until the next prompt: a notice marks where they begin.
 * - Newer versions keep a message in one row, without parts.
 */
function makeAdapter(relative: Relative): Adapter {
  const { name, title, version } = relative;
  return {
    name,
    title,
    version,
    searchRoots: (host) => searchRoots(relative, host),
    async *discover(host) {
      const known = new Set<string>();
      let isTold = false;
      for (const database of await findDatabases(relative, host)) {
        for (const input of await findSessions(database, (open) => listSessions(database, open))) {
          const { id = input.path } = inputParts(input.path);
          if (known.has(id) || (input.needsNewerNode && isTold)) continue;
          isTold ||= input.needsNewerNode === true;
          known.add(id);
          yield input;
        }
      }
      for await (const input of findStoredSessions(join(dataFolder(relative, host), "storage"))) {
        if (!known.has(basename(input.path, ".json"))) yield input;
      }
    },
    async parse({ path }, sink) {
      if (path.endsWith(".json")) return readSession(name, openStorage(path, sink), basename(path, ".json"), sink);
      const { database, id: one } = inputParts(path);
      const list = (open: DatabaseSync) => listSessions(database, open);
      try {
        await readDatabase(path, sink, list, (open, id) =>
          readSession(name, databaseStore(database, open, id, sink), id, sink),
        );
      } catch (error) {
        if (one !== undefined) throw error;
        sink.lost(`it can't be read: ${(error as Error).message}`);
      }
    },
  };
}

async function readSession(source: string, store: Store, id: string, sink: Sink): Promise<void> {
  const details = await store.session();
  if (!details) return;
  sink.skipped();
  await new OpencodeSession(sink, source, details, id).read(store);
}

const dataFolder = ({ folder }: Relative, { home, env }: Host): string =>
  join(env.XDG_DATA_HOME || join(home, ".local", "share"), folder);

function searchRoots(relative: Relative, host: Host): SearchRoot[] {
  const { XDG_DATA_HOME } = host.env;
  const { variable = "" } = relative;
  const named = host.env[variable];
  const roots: SearchRoot[] = [
    { path: dataFolder(relative, host), ...(XDG_DATA_HOME && { variable: "XDG_DATA_HOME" }) },
  ];
  return named && isAbsolute(named) ? [...roots, { path: dirname(named), variable }] : roots;
}

async function findDatabases(relative: Relative, host: Host): Promise<string[]> {
  const folder = dataFolder(relative, host);
  const names = (await listFolder(folder)).map(({ name }) => name).filter((name) => relative.databases.test(name));
  const found = names.sort().map((name) => join(folder, name));
  const named = host.env[relative.variable ?? ""];
  if (!named || named === ":memory:") return found;
  const path = isAbsolute(named) ? named : join(folder, named);
  return [path, ...found.filter((one) => one !== path)];
}

export const opencode = makeAdapter({
  name: "opencode",
  title: "OpenCode",
  version: 6,
  folder: "opencode",
  databases: /^opencode(?:-[\w.-]+)?\.db$/,
  variable: "OPENCODE_DB",
});

/** Xiaomi's MiMo Code. */
export const mimocode = makeAdapter({
  name: "mimocode",
  title: "MiMo Code",
  version: 4,
  folder: "mimocode",
  databases: /^(?:mimocode|opencode)(?:-[\w.-]+)?\.db$/,
});

/** The newer Kilo, on the command line and in editors; its databases were called as OpenCode's at first. */
export const kilo = makeAdapter({
  name: "kilo",
  title: "Kilo",
  version: 5,
  folder: "kilo",
  databases: /^(?:kilo|opencode)(?:-[\w.-]+)?\.db$/,
  variable: "KILO_DB",
});
