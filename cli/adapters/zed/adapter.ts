import { join } from "node:path";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { localDataRoot } from "../search-roots.ts";
import { findSessions, readDatabase } from "../sqlite.ts";
import { source } from "./messages.ts";
import { listThreads, readThread } from "./thread.ts";

/** Agents that run in Zed through ACP keep their sessions themselves. */
export const zed: Adapter = {
  name: source,
  title: "Zed",
  version: 2,
  searchRoots: (host) => [getRoot(host)],
  async *discover(host) {
    const database = join(getRoot(host).path, "threads.db");
    yield* await findSessions(database, listThreads);
  },
  parse: ({ path }, sink) => readDatabase(path, sink, listThreads, (database, id) => readThread(database, id, sink)),
};

const getRoot = (host: Host): SearchRoot =>
  localDataRoot(host, host.platform === "darwin" || host.platform === "win32" ? "Zed" : "zed", "threads");
