import { existsSync } from "node:fs";
import { delimiter } from "node:path";
import { isAtOrBelow } from "../files/search.ts";
import type { Adapter, Host } from "./adapter.ts";

const maxFolders = 100;

/** A shell leaves a `~` in quotation marks, as do systemd and files of variables. */
export function expandHomes(env: Host["env"], home: string): Host["env"] {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value && expandHome(value, home)]));
}

const expandHome = (path: string, home: string): string => (/^~(?=$|[\\/])/.test(path) ? home + path.slice(1) : path);

/** A folder that exists may have the separator in its name. */
export function splitFolders({ home }: Host, list: string | undefined, separator: string): string[] {
  const pieces = (list ?? "").split(separator, maxFolders);
  const folders: string[] = [];
  for (let first = 0; first < pieces.length; ) {
    let last = pieces.length;
    const joined = () => expandHome(pieces.slice(first, last).join(separator).trim(), home);
    while (last > first + 1 && !existsSync(joined())) last--;
    if (joined() !== "") folders.push(joined());
    first = last;
  }
  return folders;
}

/** These also name folders of agents that are not installed. */
const isShared = (variable: string): boolean => /^XDG_|APPDATA$/.test(variable);

export type MissingFolder = { variable: string; path: string };

export function findMissingFolders(adapters: readonly Adapter[], host: Host): MissingFolder[] {
  const missing = new Map<string, MissingFolder>();
  for (const { path, variable } of adapters.flatMap((adapter) => adapter.getSearchRoots(host))) {
    if (variable === undefined || isShared(variable) || existsSync(path)) continue;
    const value = host.env[variable];
    const lists = [",", delimiter].flatMap((separator) => splitFolders(host, value, separator));
    const above = [value ?? "", ...lists].filter((folder) => folder !== "" && isAtOrBelow(path, folder));
    const named = above.sort((a, b) => b.length - a.length)[0] ?? path; // The longest one is meant: one folder may be inside another.
    if (!existsSync(named)) missing.set(`${variable} ${named}`, { variable, path: named });
  }
  return [...missing.values()];
}
