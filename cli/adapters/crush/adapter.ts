import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseJson } from "../../files/json.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { getDataRoot, getLocalDataRoot } from "../search-roots.ts";
import { nameRealFolder } from "../session-files.ts";
import { findSessions, readDatabase, splitInputPath } from "../sqlite.ts";
import { asFields, asString, listFields } from "../values.ts";
import { listSessions, readSession, source } from "./database.ts";

export const crush: Adapter = {
  name: source,
  title: "Crush",
  version: 2,
  getSearchRoots: (host) => [getGlobalFolder(host), ...listProjects(host).map(({ data }) => ({ path: data }))],
  async *discover(host) {
    for (const { data } of listProjects(host)) {
      const database = join(data, "crush.db");
      yield* await findSessions(database, listSessions);
    }
  },
  async parse({ path }, sink) {
    const { database } = splitInputPath(path);
    const folder = findFolder(database);
    if (folder) sink.folder(folder);
    await nameRealFolder(database, sink);
    await readDatabase(path, sink, listSessions, (open, id) => readSession(open, id, folder, sink));
  },
};

function getGlobalFolder(host: Host): SearchRoot {
  const { env, platform } = host;
  if (env.CRUSH_GLOBAL_DATA) return { path: env.CRUSH_GLOBAL_DATA, variable: "CRUSH_GLOBAL_DATA" };
  return platform === "win32" && !env.XDG_DATA_HOME ? getLocalDataRoot(host, source) : getDataRoot(host, source);
}

/** The path of a database that is kept elsewhere does not show its project. */
const folders = new Map<string, string>();

function findFolder(database: string): string | undefined {
  const data = dirname(database);
  return folders.get(data) ?? (basename(data) === ".crush" ? dirname(data) : undefined);
}

function listProjects(host: Host): { data: string }[] {
  const list = readList(join(getGlobalFolder(host).path, "projects.json"));
  const projects = listFields(asFields(list).projects);
  return projects.flatMap((project) => {
    const folder = asString(project.path);
    const data = asString(project.data_dir) ?? (folder && join(folder, ".crush"));
    if (!data) return [];
    if (folder) folders.set(data, folder);
    return [{ data }];
  });
}

function readList(path: string): unknown {
  try {
    return statSync(path).isFile() ? parseJson(readFileSync(path, "utf8")) : undefined; // A pipe would block.
  } catch {
    return undefined; // Crush was never started here, or the list can't be read.
  }
}
