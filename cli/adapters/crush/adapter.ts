import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isFields, parseJson } from "../../files/json.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { nameRealFolder } from "../real-folder.ts";
import { findSessions, inputParts, readDatabase } from "../sqlite.ts";
import { asString } from "../values.ts";
import { listSessions, readSession, source } from "./database.ts";

/**
 * Crush: a SQLite database in each project's folder, `.crush/crush.db`. It lists the projects itself, in `projects.json`.
 *
 * - Sub-agents' sessions name their parent; their ids are made of the message and the call that started them.
 * - A session's tokens are those of its last request, and its costs include its sub-agents': neither is a sum of answers.
 */
export const crush: Adapter = {
  name: source,
  title: "Crush",
  version: 2,
  searchRoots: (host) => [globalFolder(host), ...listProjects(host).map(({ data }) => ({ path: data }))],
  async *discover(host) {
    for (const { data } of listProjects(host)) {
      const database = join(data, "crush.db");
      yield* await findSessions(database, (open) => listSessions(database, open));
    }
  },
  async parse({ path }, sink) {
    const { database } = inputParts(path);
    const folder = findFolder(database);
    if (folder) sink.folder(folder);
    await nameRealFolder(database, sink);
    await readDatabase(
      path,
      sink,
      (open) => listSessions(database, open),
      (open, id) => readSession(open, id, folder, sink),
    );
  },
};

/** The folder with the list of projects. */
function globalFolder({ home, env, platform }: Host): SearchRoot {
  if (env.CRUSH_GLOBAL_DATA) return { path: env.CRUSH_GLOBAL_DATA, variable: "CRUSH_GLOBAL_DATA" };
  if (env.XDG_DATA_HOME) return { path: join(env.XDG_DATA_HOME, source), variable: "XDG_DATA_HOME" };
  if (platform === "win32") return { path: join(env.LOCALAPPDATA || join(home, "AppData", "Local"), source) };
  return { path: join(home, ".local", "share", source) };
}

/** The folders of the projects, by those of their databases: where a database stands apart, its path does not tell them. */
const folders = new Map<string, string>();

function findFolder(database: string): string | undefined {
  const data = dirname(database);
  return folders.get(data) ?? (basename(data) === ".crush" ? dirname(data) : undefined);
}

function listProjects(host: Host): { data: string }[] {
  const list = readList(join(globalFolder(host).path, "projects.json"));
  const projects = isFields(list) && Array.isArray(list.projects) ? list.projects.filter(isFields) : [];
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
    return statSync(path).isFile() ? parseJson(readFileSync(path, "utf8")) : undefined; // a pipe would block
  } catch {
    return undefined; // Crush was never started here, or the list can't be read: no project is known
  }
}
