import type { Host, SearchRoot } from "../adapter.ts";
import { makeDatabaseAdapter } from "../make-adapter.ts";
import { getLocalDataRoot } from "../search-roots.ts";
import { source } from "./messages.ts";
import { listThreads, readThread } from "./thread.ts";

export const zed = makeDatabaseAdapter({
  name: source,
  title: "Zed",
  version: 2,
  getSearchRoots: (host) => [getFolder(host)],
  databases: (host) => [getFolder(host, "threads.db").path],
  list: listThreads,
  read: readThread,
});

function getFolder(host: Host, ...below: string[]): SearchRoot {
  const isLower = host.platform !== "darwin" && host.platform !== "win32";
  return getLocalDataRoot(host, isLower ? "zed" : "Zed", "threads", ...below);
}
