import { basename, dirname, join, sep } from "node:path";
import { findFiles, listFolder, statInput } from "../../files/discovery.ts";
import { type Fields, isFields } from "../../files/json.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { isSession } from "../claude-code/discovery.ts";
import { type Given, readIdentity } from "../claude-code/identity.ts";
import type { Dialect } from "../claude-code/messages.ts";
import { parseSession } from "../claude-code/parse.ts";
import { programFolder } from "../editor-folders.ts";
import { asCount, asString } from "../values.ts";

const dialect: Dialect = { source: "cowork" };

/**
 * Cowork, the local agent of Claude's desktop program: Claude Code's files in a folder of each session's own,
 * `ORGANIZATION/WORKSPACE/local_ID/.claude/projects`, and beside that folder a file with the title and the user's folders.
 */
export const cowork: Adapter = {
  name: dialect.source,
  title: "Claude Cowork",
  version: 6,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host))
      for await (const folder of sessionFolders(path)) yield* sessionsIn(folder);
  },
  async parse(input, sink) {
    const identity = await readIdentity(input.path);
    const given = await readGiven(getSessionFolder(input.path));
    // What a sub-agent was started for says more than its session's title.
    const { title, ...rest } = given;
    await parseSession(input, sink, dialect, { ...identity, given: identity.isAgent ? rest : { title, ...rest } });
  },
};

const sessions = "local-agent-mode-sessions";

function searchRoots(host: Host): SearchRoot[] {
  const roots = [{ path: join(programFolder(host), "Claude", sessions) }];
  if (host.platform !== "win32") return roots;
  const local = host.env.LOCALAPPDATA || join(host.home, "AppData", "Local");
  // The program from Microsoft's store has a folder of its own.
  const store = join(local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude", sessions);
  return [...roots, { path: store }];
}

/** How deep below the root sessions are: an organization, a workspace, and where a kind of agent has one, its folder. */
const maxDepth = 3;

/** The sessions' folders. What is in them, such as the files that the agent made, is not searched. */
async function* sessionFolders(folder: string, depth = 0): AsyncGenerator<string> {
  for (const entry of await listFolder(folder)) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory() || entry.name === "skills-plugin") continue;
    if (entry.name.startsWith("local_")) yield path;
    else if (depth < maxDepth) yield* sessionFolders(path, depth + 1);
  }
}

async function* sessionsIn(folder: string): AsyncGenerator<Input> {
  const meta = await statInput(`${folder}.json`);
  for await (const input of findFiles(join(folder, ".claude", "projects"), isSession)) {
    // A new title changes the file beside the folder only.
    yield meta ? { ...input, stamp: `${input.stamp}:${meta.stamp}` } : input;
  }
}

/** The session's folder in the path of one of its files. */
const getSessionFolder = (path: string): string => path.slice(0, path.lastIndexOf(`${sep}.claude${sep}projects${sep}`));

/** What the program notes of a session. Without a folder of the user's, a session belongs to no project. */
async function readGiven(folder: string): Promise<Given> {
  const meta = await readMeta(join(dirname(folder), `${basename(folder)}.json`));
  const [own] = Array.isArray(meta.userSelectedFolders) ? meta.userSelectedFolders : [];
  const [title, chosen, createdAt] = [asString(meta.title)?.trim(), asString(own), asCount(meta.createdAt)];
  return {
    ...(title && { title }),
    ...(chosen && { folder: chosen }),
    hasProject: chosen !== undefined,
    ...(createdAt !== undefined && { createdAt }),
  };
}

async function readMeta(path: string): Promise<Fields> {
  const meta = await readJsonFile(path);
  return isFields(meta) ? meta : {};
}
