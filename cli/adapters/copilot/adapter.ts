import { basename, dirname, join } from "node:path";
import { readTextFile } from "../../files/byte-reader.ts";
import { findFiles, isMissingOrForbidden } from "../../files/discovery.ts";
import { isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, SearchRoot, Sink } from "../adapter.ts";
import { withoutCounts } from "../uncounted-sink.ts";
import { Agents, CopilotSession, source } from "./session.ts";

/** So many sub-agents have sessions of their own, each read in a pass of its own; the rest share one. */
const maxAgents = 50;

/**
 * GitHub Copilot CLI: events as JSON lines, `session-state/ID/events.jsonl` or, in older versions, `session-state/ID.jsonl`.
 *
 * - A sub-agent's events are among the session's, and name the call that started it, or the sub-agent. They become a session of
 *   their own.
 * - A tool's execution repeats the call that the answer requested; a command of the user's own has only the execution.
 * - Reasoning comes as an event, and once more in the answer.
 * - Newer versions record the tokens of each request before its answer. Of older ones an answer names its output tokens; the others
 *   are known for a whole run only, when it ends.
 */
export const copilot: Adapter = {
  name: source,
  title: "GitHub Copilot CLI",
  version: 5,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl"))) {
        const isLog = dirname(input.path) === path || basename(input.path) === "events.jsonl";
        if (isLog || input.stamp === "forbidden") yield input;
      }
    }
  },
  async parse(input, sink) {
    const agents = new Set<string>();
    const known = new Agents();
    const name = basename(input.path, ".jsonl");
    const id = name === "events" ? basename(dirname(input.path)) : name;
    const session = new CopilotSession(sink, id, { agents });
    session.noteTitle(await readName(input.path));
    await readRecords(input.path, sink, (record) => {
      const agent = known.find(record);
      if (agent) agents.add(agent);
      else session.add(record);
    });
    session.end();
    const named = [...agents];
    for (const agent of named.slice(0, maxAgents)) await readAgent(input, sink, session.id, new Set([agent]), agent);
    const rest = new Set(named.slice(maxAgents));
    if (rest.size > 0) await readAgent(input, sink, session.id, rest, "more");
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.COPILOT_HOME;
  if (named) return [{ path: join(named, "session-state"), variable: "COPILOT_HOME" }];
  return [{ path: join(home, ".copilot", "session-state") }];
}

async function readAgent(input: Input, sink: Sink, parent: string, calls: Set<string>, name: string): Promise<void> {
  // Its lines were counted with the session's; what is unknown in them was not yet.
  const uncounted: Sink = { ...withoutCounts(sink), unhandled: (type) => sink.unhandled(type) };
  const session = new CopilotSession(uncounted, `${parent}/${name}`, { parent, agents: new Set() });
  const known = new Agents();
  await readRecords(input.path, uncounted, (record) => {
    if (calls.has(known.find(record)) || record.type === "session.binary_asset") session.add(record);
    else if (record.type === "session.start" && isFields(record.data)) session.noteStart(record.data);
  });
  session.end();
}

/** The session's name, which stands beside its events. */
async function readName(path: string): Promise<string | undefined> {
  if (basename(path) !== "events.jsonl") return undefined;
  try {
    const text = (await readTextFile(join(dirname(path), "workspace.yaml"))) ?? "";
    return /^name:[ \t]*(['"]?)(.+?)\1[ \t]*$/m.exec(text)?.[2];
  } catch (error) {
    if (isMissingOrForbidden(error)) return undefined;
    throw error;
  }
}
