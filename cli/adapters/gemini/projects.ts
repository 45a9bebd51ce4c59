import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { isFields } from "../../files/json.ts";
import { readJsonFile, readTextIfAny } from "../../files/state-files.ts";
import { asFields } from "../values.ts";

export type Projects = {
  /** A short name, or the hash of the project's path. */
  name: string;
  noted: string;
  names: Map<string, string>;
  /** Paths by their hashes: of known projects, and of folders that the user trusts. */
  hashes: Map<string, string>;
};

/** @param path `…/tmp/NAME/chats/…` */
export async function readProjects(path: string): Promise<Projects> {
  let chats = dirname(path);
  while (basename(chats) !== "chats" && dirname(chats) !== chats) chats = dirname(chats);
  const project = dirname(chats);
  const home = dirname(dirname(project));
  const registry = await readJsonFile(join(home, "projects.json"));
  const projects = asFields(asFields(registry).projects);
  const trusted = await readJsonFile(join(home, "trustedFolders.json"));
  const hashes = new Map<string, string>();
  const paths = [...Object.keys(projects), ...listTrustedPaths(trusted)];
  for (const one of paths) hashes.set(createHash("sha256").update(one).digest("hex"), one);
  return {
    name: basename(project),
    noted: (await readTextIfAny(join(project, ".project_root"))).trim(),
    names: new Map(Object.entries(projects).map(([root, name]) => [String(name), root])),
    hashes,
  };
}

/** `TRUST_PARENT` also trusts the folder above. */
function listTrustedPaths(trusted: unknown): string[] {
  const entries = isFields(trusted) ? Object.entries(trusted) : [];
  return entries.flatMap(([path, level]) => (level === "TRUST_PARENT" ? [getParent(path), path] : [path]));
}

const getParent = (path: string): string => path.replace(/[/\\][^/\\]+[/\\]?$/, "");

export function findProjectFolder({ noted, names, hashes }: Projects, ids: unknown[]): string | undefined {
  const found = ids.map((id) => (typeof id === "string" ? (names.get(id) ?? hashes.get(id)) : undefined));
  return noted || found.find(Boolean);
}
