import { basename, join } from "node:path";
import { supportsZstd } from "../../files/byte-reader.ts";
import { findFiles, statInput } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { Rollout, source } from "./rollout.ts";

/**
 * Codex CLI: a file of JSON lines for each session, `rollout-….jsonl`.
 *
 * - Token counts are totals of the whole session: each report adds the difference to the previous one.
 * - A `compacted` line repeats history that is in the file already.
 * - Most events (`event_msg`) repeat an item (`response_item`).
 * - A fork begins with its parent's lines, all written at the moment of the fork: they are kept and not counted.
 * - Old rollouts are compressed (`.jsonl.zst`).
 * - Until September 2025 items had no envelope.
 */
export const codex: Adapter = {
  name: source,
  title: "Codex CLI",
  version: 1,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) yield* rolloutsBelow(path);
  },
  async parse(input, sink) {
    if (isCompressed(input.path) && !supportsZstd()) {
      sink.lost(needsNewerNode);
      return;
    }
    const rollout = new Rollout(sink, basename(input.path).replace(/\.jsonl(?:\.zst)?$/, ""));
    if (input.from) rollout.resume(input.from.state, input.from.messages);
    const end = await readRecords(input.path, sink, (record) => rollout.add(record), input.from);
    const state = end.isOpen || isCompressed(input.path) ? undefined : rollout.save();
    if (state) sink.checkpoint({ offset: end.offset, line: end.line, state });
    rollout.end();
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const folder = env.CODEX_HOME || join(home, ".codex");
  const from = env.CODEX_HOME ? { variable: "CODEX_HOME" } : {};
  return ["sessions", "archived_sessions"].map((name) => ({ path: join(folder, name), ...from }));
}

/** Every rollout once: while one is being compressed, both files exist. */
async function* rolloutsBelow(folder: string): AsyncGenerator<Input> {
  for await (const input of findFiles(folder, (name) => /^rollout-.*\.jsonl(?:\.zst)?$/.test(name))) {
    if (!isCompressed(input.path)) yield input;
    else if (!(await statInput(input.path.slice(0, -".zst".length)))) yield compressedInput(input);
  }
}

/** Without zstd support the stamp differs, so that a newer Node reads the file again. */
const compressedInput = (input: Input): Input =>
  supportsZstd() ? input : { ...input, stamp: `${input.stamp}:packed` };

const isCompressed = (path: string): boolean => path.endsWith(".zst");

const needsNewerNode = `files compressed with zstd need Node 22.15 or later; this is Node ${process.versions.node}`;
