import { basename, delimiter, dirname, join, resolve } from "node:path";
import { statInput } from "../../files/discovery.ts";
import { readLines } from "../../files/line-reader.ts";
import { currentSearch } from "../../files/search.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { splitFolders } from "../named-folders.ts";
import { listFoldersAbove } from "../search-roots.ts";
import { nameRealFolder } from "../session-files.ts";
import { Chats, source } from "./chats.ts";

const historyFile = ".aider.chat.history.md";

/**
 * The user's lines begin with `#### `, the program's with `> `, and both end with two spaces; all others are the
 * model's.
 */
export const aider: Adapter = {
  name: source,
  title: "Aider",
  version: 1,
  getSearchRoots,
  async *discover(host) {
    const known = new Set<string>();
    for (const { path } of getSearchRoots(host)) {
      // No other file of a project matters, so the folder itself is not watched.
      currentSearch()?.listed.add(path);
      const input = known.has(path) ? undefined : await statInput(path);
      known.add(path);
      if (input) yield input;
    }
  },
  async parse({ path }, sink) {
    sink.folder(dirname(path));
    await nameRealFolder(path, sink);
    const chats = new Chats(sink, dirname(path));
    await readLines(path, (line, number, isOpen) => chats.addLine(line, number, isOpen), {
      tooLong: (number) => sink.lost(`line ${number} is too long`),
      pause: () => sink.pause(),
    });
    chats.end();
  },
};

function getSearchRoots(host: Host): SearchRoot[] {
  const { cwd, env } = host;
  const own = env.AIDER_CHAT_HISTORY_FILE;
  const ownRoot = own ? [{ path: resolve(cwd, own), variable: "AIDER_CHAT_HISTORY_FILE" }] : [];
  const named = splitFolders(host, env.SPOOR_AIDER, delimiter);
  if (named.length > 0)
    return [...ownRoot, ...named.map((path) => ({ path: toHistoryFile(path), variable: "SPOOR_AIDER" }))];
  return [...ownRoot, ...listFoldersAbove(host).map((path) => ({ path: toHistoryFile(path) }))];
}

const toHistoryFile = (path: string): string => (basename(path).endsWith(".md") ? path : join(path, historyFile));
