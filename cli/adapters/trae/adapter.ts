import { join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import type { Adapter, Host, SearchRoot, Sink } from "../adapter.ts";
import { codex } from "../codex/adapter.ts";

const source = "trae";

/**
 * Trae CLI (TraeX), which is made from Codex: the same rollouts, in folders of its own. The editor's conversations are
 * encrypted, see unreadable.ts.
 */
export const trae: Adapter = {
  name: source,
  title: "Trae CLI",
  version: 1,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host))
      yield* findFiles(path, (name) => /^rollout-.*\.jsonl(?:\.zst)?$/.test(name));
  },
  parse: (input, sink) => codex.parse(input, underOwnName(sink)),
};

function searchRoots({ home }: Host): SearchRoot[] {
  return ["sessions", "archived_sessions"].map((name) => ({ path: join(home, ".trae", "cli", name) }));
}

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
