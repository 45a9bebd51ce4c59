import { join, sep } from "node:path";
import { findFiles, listFolder } from "../../files/discovery.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { isSession } from "../claude-code/discovery.ts";
import { type Given, readIdentity } from "../claude-code/identity.ts";
import type { Dialect } from "../claude-code/messages.ts";
import { parseSession } from "../claude-code/parse.ts";
import { getProgramFolder } from "../search-roots.ts";
import { addStamp } from "../session-files.ts";
import { asCount, asFields, asString } from "../values.ts";

const dialect: Dialect = { source: "cowork" };

export const cowork: Adapter = {
  name: dialect.source,
  title: "Claude Cowork",
  version: 6,
  getSearchRoots,
  async *discover(host) {
    for (const { path } of getSearchRoots(host))
      for await (const folder of findSessionFolders(path)) yield* findSessionFiles(folder);
  },
  async parse(input, sink) {
    const identity = await readIdentity(input.path);
    const given = await readGiven(getSessionFolder(input.path));
    // A sub-agent's task says more than its session's title.
    const { title, ...rest } = given;
    await parseSession(input, sink, dialect, { ...identity, given: identity.isAgent ? rest : { title, ...rest } });
  },
};

const sessions = "local-agent-mode-sessions";

function getSearchRoots(host: Host): SearchRoot[] {
  const roots = [{ path: join(getProgramFolder(host), "Claude", sessions) }];
  if (host.platform !== "win32") return roots;
  const local = host.env.LOCALAPPDATA || join(host.home, "AppData", "Local");
  const store = join(local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude", sessions);
  return [...roots, { path: store }];
}

/** An organization, a workspace, and some agents' own folder. */
const maxDepth = 3;

async function* findSessionFolders(folder: string, depth = 0): AsyncGenerator<string> {
  for (const entry of await listFolder(folder)) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory() || entry.name === "skills-plugin") continue;
    if (entry.name.startsWith("local_")) yield path;
    else if (depth < maxDepth) yield* findSessionFolders(path, depth + 1);
  }
}

async function* findSessionFiles(folder: string): AsyncGenerator<Input> {
  // A new title changes only the file next to the folder.
  for await (const input of findFiles(join(folder, ".claude", "projects"), isSession))
    yield await addStamp(input, `${folder}.json`);
}

const getSessionFolder = (path: string): string => path.slice(0, path.lastIndexOf(`${sep}.claude${sep}projects${sep}`));

/** A session without a folder of the user's belongs to no project. */
async function readGiven(folder: string): Promise<Given> {
  const meta = asFields(await readJsonFile(`${folder}.json`));
  const [own] = Array.isArray(meta.userSelectedFolders) ? meta.userSelectedFolders : [];
  const [title, chosen, createdAt] = [asString(meta.title)?.trim(), asString(own), asCount(meta.createdAt)];
  return {
    ...(title && { title }),
    ...(chosen && { folder: chosen }),
    hasProject: chosen !== undefined,
    ...(createdAt !== undefined && { createdAt }),
  };
}
