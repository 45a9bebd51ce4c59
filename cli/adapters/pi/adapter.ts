import { readRecords } from "../../files/json-lines.ts";
import type { Host, Input, SearchRoot, Sink } from "../adapter.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { getHomeRoot } from "../search-roots.ts";
import { findSurroundings, parseSessionId } from "./forks.ts";
import { PiSession } from "./session.ts";

const source = "pi";

export const pi = makeFileAdapter({
  name: source,
  title: "Pi",
  version: 4,
  getSearchRoots,
  matches: (name) => name.endsWith(".jsonl"),
  async parse(input, sink) {
    await readSession(input, sink, { source, id: parseSessionId(input.path) });
  },
});

function getSearchRoots(host: Host): SearchRoot[] {
  return [
    host.env.PI_CODING_AGENT_SESSION_DIR
      ? getHomeRoot(host, "PI_CODING_AGENT_SESSION_DIR", "")
      : getHomeRoot(host, "PI_CODING_AGENT_DIR", ".pi/agent", "sessions"),
  ];
}

type FileFacts = {
  source: string;
  id: string;
  prefix?: string;
  parent?: string | undefined;
};

export async function readSession(input: Input, sink: Sink, { source, id, prefix, parent }: FileFacts): Promise<void> {
  const session = new PiSession(sink, source, id, await findSurroundings(input, prefix));
  if (parent !== undefined) session.noteParent(parent);
  await readRecords(input.path, sink, (record) => session.add(record));
  session.end();
}
