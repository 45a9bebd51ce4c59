import { readFile, rm } from "node:fs/promises";
import type { Host } from "../adapters/adapter.ts";
import { isMissingOrForbidden } from "../files/discovery.ts";
import { isFields, parseJson, toList } from "../files/json.ts";
import { writeFileAtomically } from "../files/state-files.ts";
import { getPlaces } from "./places.ts";

/** `uninstall` removes exactly this change. */
export type FileEdit = {
  path: string;
  agent: string;
  inserted: string;
  offset: number;
  command: string;
  /** The insertion made these containers, outermost first; they are removed if they stay empty. */
  made: string[];
};

/** Records what `install` did, for `uninstall` and `update`. */
export type Manifest = {
  /** The origin that the service sends to and gets updates from. */
  server: string;
  autoUpdate: boolean;
  /** The SHA-256, in hex, of each content that we wrote, by path. */
  files: Record<string, string[]>;
  folders: string[];
  edits: FileEdit[];
  hasService: boolean;
  loggedIn: boolean;
  /** Settings and state did not exist before. */
  madeSettings: boolean;
  madeState: boolean;
};

export async function readManifest(host: Host): Promise<Manifest | undefined> {
  const text = await readFile(getPlaces(host).manifest, "utf8").catch((error) => {
    if (isMissingOrForbidden(error)) return "";
    throw error;
  });
  const found = parseJson(text);
  if (!isFields(found) || typeof found.server !== "string" || !isFields(found.files)) return undefined;
  return {
    server: found.server,
    autoUpdate: found.autoUpdate !== false,
    files: Object.fromEntries(Object.entries(found.files).map(([path, hashes]) => [path, toList(hashes).map(String)])),
    folders: toList(found.folders).map(String),
    edits: toList(found.edits).filter(isEdit),
    hasService: found.hasService === true,
    loggedIn: found.loggedIn === true,
    madeSettings: found.madeSettings === true,
    madeState: found.madeState === true,
  };
}

const isEdit = (value: unknown): value is FileEdit =>
  isFields(value) &&
  [value.path, value.agent, value.inserted, value.command].every((one) => typeof one === "string") &&
  typeof value.offset === "number" &&
  Array.isArray(value.made);

export const writeManifest = (host: Host, manifest: Manifest): Promise<void> =>
  writeFileAtomically(getPlaces(host).manifest, `${JSON.stringify(manifest, null, 2)}\n`);

export const removeManifest = (host: Host): Promise<void> => rm(getPlaces(host).manifest, { force: true });
