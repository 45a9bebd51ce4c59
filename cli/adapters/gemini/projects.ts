import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { readTextFile } from "../../files/byte-reader.ts";
import { isMissingOrForbidden } from "../../files/discovery.ts";
import { isFields } from "../../files/json.ts";
import { readJsonFile } from "../../files/state-files.ts";

/** What Gemini CLI tells about a recording's project. */
export type Projects = {
  /** The name of the project's folder in `tmp`: a short name, or the hash of its path. */
  name: string;
  /** Its path, where that is noted beside the recordings. */
  noted: string;
  /** Short names by paths. */
  names: Map<string, string>;
  /** Paths by their hashes: of every project that is known, and of every folder that the user trusts. */
  hashes: Map<string, string>;
};

/** Reads what is known of the project of a recording. @param path `…/tmp/NAME/chats/…` */
export async function readProjects(path: string): Promise<Projects> {
  let chats = dirname(path);
  while (basename(chats) !== "chats" && dirname(chats) !== chats) chats = dirname(chats);
  const project = dirname(chats);
  const home = dirname(dirname(project));
  const registry = await readJsonFile(join(home, "projects.json"));
  const projects = isFields(registry) && isFields(registry.projects) ? registry.projects : {};
  const trusted = await readJsonFile(join(home, "trustedFolders.json"));
  const hashes = new Map<string, string>();
  const paths = [...Object.keys(projects), ...trustedPaths(trusted)];
  for (const one of paths) hashes.set(createHash("sha256").update(one).digest("hex"), one);
  return {
    name: basename(project),
    noted: await readText(join(project, ".project_root")),
    names: new Map(Object.entries(projects).map(([root, name]) => [String(name), root])),
    hashes,
  };
}

/** A folder that is trusted by one below it (`TRUST_PARENT`) may be a project, too. */
function trustedPaths(trusted: unknown): string[] {
  const entries = isFields(trusted) ? Object.entries(trusted) : [];
  return entries.flatMap(([path, level]) => (level === "TRUST_PARENT" ? [getParent(path), path] : [path]));
}

const getParent = (path: string): string => path.replace(/[/\\][^/\\]+[/\\]?$/, "");

/** The project's folder. @param ids short names or hashes of it */
export function projectFolder({ noted, names, hashes }: Projects, ids: unknown[]): string | undefined {
  const found = ids.map((id) => (typeof id === "string" ? (names.get(id) ?? hashes.get(id)) : undefined));
  return noted || found.find(Boolean);
}

async function readText(path: string): Promise<string> {
  try {
    return ((await readTextFile(path)) ?? "").trim();
  } catch (error) {
    if (isMissingOrForbidden(error)) return "";
    throw error;
  }
}
