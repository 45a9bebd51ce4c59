import { join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import type { Adapter, Host, SearchRoot, Sink } from "../adapter.ts";
import { codex } from "../codex/adapter.ts";
import { isRollout } from "../codex/parents.ts";
import { forwardTo } from "../sinks.ts";
import { splitInputPath } from "../sqlite.ts";
import { findConversations, getUserFolders, readConversation } from "./editor.ts";

const source = "trae";

export const trae: Adapter = {
  name: source,
  title: "Trae",
  version: 3,
  getSearchRoots,
  async *discover(host) {
    for (const { path } of getRolloutRoots(host)) yield* findFiles(path, isRollout);
    yield* findConversations(host);
  },
  async parse(input, sink) {
    if (splitInputPath(input.path).database.endsWith(".vscdb")) await readConversation(input.path, source, sink);
    else await codex.parse(input, renameSource(sink));
  },
};

function getSearchRoots(host: Host): SearchRoot[] {
  return [...getRolloutRoots(host), ...getUserFolders(host).map((path) => ({ path }))];
}

const getRolloutRoots = ({ home }: Host): SearchRoot[] =>
  ["sessions", "archived_sessions"].map((name) => ({ path: join(home, ".trae", "cli", name) }));

const renameSource = (sink: Sink): Sink => ({
  ...forwardTo(sink),
  begin: (_, sourceId, messages) => sink.begin(source, sourceId, messages),
});
