import { findFiles } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, SearchRoot, Sink } from "../adapter.ts";
import { homeRoot } from "../search-roots.ts";
import { findSurroundings, parseSessionId } from "./forks.ts";
import { PiSession } from "./session.ts";

const source = "pi";

/**
 * All branches of the tree (`parentId`) are kept, in the order of writing. A fork begins with the lines of its
 * original (forks.ts).
 */
export const pi: Adapter = {
  name: source,
  title: "Pi",
  version: 4,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) yield* findFiles(path, (name) => name.endsWith(".jsonl"));
  },
  async parse(input, sink) {
    await readSession(input, sink, { source, id: parseSessionId(input.path) });
  },
};

function searchRoots(host: Host): SearchRoot[] {
  return [
    host.env.PI_CODING_AGENT_SESSION_DIR
      ? homeRoot(host, "PI_CODING_AGENT_SESSION_DIR", "")
      : homeRoot(host, "PI_CODING_AGENT_DIR", ".pi/agent", "sessions"),
  ];
}

type FileFacts = {
  source: string;
  id: string /** Precedes the ids of the file's folder. */;
  prefix?: string;
  parent?: string | undefined;
};

export async function readSession(input: Input, sink: Sink, { source, id, prefix, parent }: FileFacts): Promise<void> {
  const session = new PiSession(sink, source, id, await findSurroundings(input, prefix));
  if (parent !== undefined) session.noteParent(parent);
  await readRecords(input.path, sink, (record) => session.add(record));
  session.end();
}
