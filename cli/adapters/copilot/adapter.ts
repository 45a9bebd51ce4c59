import { basename, dirname, join } from "node:path";
import { isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readTextIfAny } from "../../files/state-files.ts";
import type { Input, Sink } from "../adapter.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { getHomeRoot } from "../search-roots.ts";
import { withoutCounts } from "../sinks.ts";
import { AgentFinder, CopilotSession, source } from "./session.ts";

/** Each agent takes another pass over the file; the remaining ones share one. */
const maxAgents = 50;

export const copilot = makeFileAdapter({
  name: source,
  title: "GitHub Copilot CLI",
  version: 5,
  getSearchRoots: (host) => [getHomeRoot(host, "COPILOT_HOME", ".copilot", "session-state")],
  matches: (name) => name.endsWith(".jsonl"),
  accepts: ({ path }, root) => dirname(path) === root || basename(path) === "events.jsonl",
  async parse(input, sink) {
    const agents = new Set<string>();
    const known = new AgentFinder();
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
});

async function readAgent(input: Input, sink: Sink, parent: string, calls: Set<string>, name: string): Promise<void> {
  // Its lines were counted with the session's, but not the unknown parts of them.
  const uncounted: Sink = { ...withoutCounts(sink), unhandled: (type) => sink.unhandled(type) };
  const session = new CopilotSession(uncounted, `${parent}/${name}`, { parent, agents: new Set() });
  const known = new AgentFinder();
  await readRecords(input.path, uncounted, (record) => {
    if (calls.has(known.find(record)) || record.type === "session.binary_asset") session.add(record);
    else if (record.type === "session.start" && isFields(record.data)) session.noteStart(record.data);
  });
  session.end();
}

async function readName(path: string): Promise<string | undefined> {
  if (basename(path) !== "events.jsonl") return undefined;
  const text = await readTextIfAny(join(dirname(path), "workspace.yaml"));
  return /^name:[ \t]*(['"]?)(.+?)\1[ \t]*$/m.exec(text)?.[2];
}
