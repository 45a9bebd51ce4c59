import { readdirSync } from "node:fs";
import { join } from "node:path";
import { makeDatabaseAdapter } from "../make-adapter.ts";
import { getHomeRoot } from "../search-roots.ts";
import { listSessions, readSession, source } from "./database.ts";

export const hermes = makeDatabaseAdapter({
  name: source,
  title: "Hermes Agent",
  version: 2,
  getSearchRoots: (host) => [getHomeRoot(host, "HERMES_HOME", ".hermes")],
  databases: (host) =>
    listProfiles(getHomeRoot(host, "HERMES_HOME", ".hermes").path).map((folder) => join(folder, "state.db")),
  list: listSessions,
  read: readSession,
});

function listProfiles(root: string): string[] {
  try {
    return [root, ...readdirSync(join(root, "profiles")).map((name) => join(root, "profiles", name))];
  } catch {
    return [root]; // There are no profiles.
  }
}
