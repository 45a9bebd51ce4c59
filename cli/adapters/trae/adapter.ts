import { join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import type { Adapter, Host, SearchRoot, Sink } from "../adapter.ts";
import { codex } from "../codex/adapter.ts";
import { inputParts } from "../sqlite.ts";
import { findConversations, readConversation, userFolders } from "./editor.ts";

const source = "trae";

/**
 * Trae: the CLI (TraeX) is made from Codex and writes the same rollouts, in folders of its own. Older versions of the editor keep
 * conversations in the open, see editor.ts; newer ones encrypt them, see unreadable.ts.
 */
export const trae: Adapter = {
  name: source,
  title: "Trae",
  version: 3,
  searchRoots,
  async *discover(host) {
    for (const { path } of rollouts(host)) yield* findFiles(path, (name) => /^rollout-.*\.jsonl(?:\.zst)?$/.test(name));
    yield* findConversations(host);
  },
  async parse(input, sink) {
    if (inputParts(input.path).database.endsWith(".vscdb")) await readConversation(input.path, source, sink);
    else await codex.parse(input, underOwnName(sink));
  },
};

function searchRoots(host: Host): SearchRoot[] {
  return [...rollouts(host), ...userFolders(host).map((path) => ({ path }))];
}

const rollouts = ({ home }: Host): SearchRoot[] =>
  ["sessions", "archived_sessions"].map((name) => ({ path: join(home, ".trae", "cli", name) }));

const underOwnName = (sink: Sink): Sink => ({
  begin: (_, sourceId, messages) => sink.begin(source, sourceId, messages),
  message: (message) => sink.message(message),
  end: (details) => sink.end(details),
  reject: (reason) => sink.reject(reason),
  lost: (reason) => sink.lost(reason),
  folder: (path) => sink.folder(path),
  entry: (line) => sink.entry(line),
  skipped: () => sink.skipped(),
  invalid: (reason) => sink.invalid(reason),
  unhandled: (type) => sink.unhandled(type),
  checkpoint: (at) => sink.checkpoint(at),
  pause: () => sink.pause(),
});
