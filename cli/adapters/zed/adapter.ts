import { join } from "node:path";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { findSessions, inputParts, readDatabase } from "../sqlite.ts";
import { source } from "./source.ts";
import { listThreads, readThread } from "./thread.ts";

/**
 * Zed's own agent: a SQLite database with a value of JSON for each thread, compressed with zstd. Agents that run in Zed by ACP
 * keep their sessions themselves.
 */
export const zed: Adapter = {
  name: source,
  title: "Zed",
  version: 2,
  searchRoots: (host) => [root(host)],
  async *discover(host) {
    const database = join(root(host).path, "threads.db");
    yield* await findSessions(database, (open) => listThreads(database, open));
  },
  async parse({ path }, sink) {
    const { database } = inputParts(path);
    await readDatabase(
      path,
      sink,
      (open) => listThreads(database, open),
      (open, id) => readThread(open, id, sink),
    );
  },
};

function root({ home, env, platform }: Host): SearchRoot {
  if (platform === "darwin") return { path: join(home, "Library", "Application Support", "Zed", "threads") };
  if (platform === "win32") return { path: join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "Zed", "threads") };
  const data = env.XDG_DATA_HOME || join(home, ".local", "share");
  return { path: join(data, "zed", "threads"), ...(env.XDG_DATA_HOME && { variable: "XDG_DATA_HOME" }) };
}
