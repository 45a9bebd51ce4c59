import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import type { Fields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, SearchRoot, Sink } from "../adapter.ts";
import { withoutCounts } from "../uncounted-sink.ts";
import { findOriginal } from "./forks.ts";
import { ClaudeSession, type Identity, source } from "./session.ts";

/**
 * Claude Code: a file of JSON lines for each session and each sub-agent.
 *
 * - One API message comes as several lines with the same `message.id` and cumulative usage: each line adds the difference.
 * - Sub-agents have files of their own (`agent-….jsonl`); in older versions their lines are in the session's file
 *   (`isSidechain`). Both become sessions of their own that name their parent.
 * - A fork begins with its parent's history (`forkedFrom`, lines of another `sessionId`, or unmarked copies: see forks.ts). It
 *   is kept and not counted.
 * - A summary at the beginning of a file belongs to another session; the one that names a line of this file is its title.
 */
export const claudeCode: Adapter = {
  name: source,
  title: "Claude Code",
  version: 1,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) yield* findFiles(path, (name) => name.endsWith(".jsonl"));
  },
  async parse(input, sink) {
    const identity = identityOf(input);
    const hasSidechain = await parseOne(input, sink, identity, identity.isAgent ? "all" : "main");
    if (!hasSidechain) return;
    const sidechain = { ...identity, sourceId: `${identity.sourceId}/sidechain`, parent: identity.sourceId };
    const { from: _, ...whole } = input;
    await parseOne(whole, withoutCounts(sink), sidechain, "side");
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.CLAUDE_CONFIG_DIR;
  if (named)
    return named.split(",").map((path) => ({ path: join(path.trim(), "projects"), variable: "CLAUDE_CONFIG_DIR" }));
  return [{ path: join(home, ".claude", "projects") }, { path: join(home, ".config", "claude", "projects") }];
}

/** A sub-agent's file is in the folder of its session's file, or in `SESSION/subagents`. */
function identityOf({ path }: Input): Identity {
  const name = basename(path, ".jsonl");
  if (!name.startsWith("agent-")) return { sourceId: name, isAgent: false };
  const folder = dirname(path);
  const parent = basename(folder) === "subagents" ? basename(dirname(folder)) : undefined;
  return { sourceId: name, isAgent: true, ...(parent && { parent }) };
}

/** @returns whether lines of a sidechain were left out */
async function parseOne(
  input: Input,
  sink: Sink,
  identity: Identity,
  wanted: "main" | "side" | "all",
): Promise<boolean> {
  const session = new ClaudeSession(sink, identity, wanted === "main" ? await findOriginal(input.path) : undefined);
  let hasSidechain = false;
  if (input.from) session.resume(input.from.state, input.from.messages);
  const end = await readRecords(input.path, sink, takeLine, input.from);
  const state = hasSidechain || end.isOpen ? undefined : session.save();
  if (state) sink.checkpoint({ offset: end.offset, line: end.line, state });
  session.end();
  return wanted === "main" && hasSidechain;

  function takeLine(record: Fields): void {
    const isSide = record.isSidechain === true;
    hasSidechain ||= isSide && (record.type === "user" || record.type === "assistant");
    if (wanted !== "all" && isSide !== (wanted === "side")) return;
    session.add(record);
  }
}
