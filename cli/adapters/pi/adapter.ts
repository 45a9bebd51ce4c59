import { findFiles } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, Input, SearchRoot, Sink } from "../adapter.ts";
import { homeRoot } from "../search-roots.ts";
import { findSurroundings, parseSessionId } from "./forks.ts";
import { PiSession } from "./session.ts";

const source = "pi";

/**
 * Pi keeps a file of JSON lines for each session, `TIME_ID.jsonl`, in a folder for each project.
 *
 * - Lines form a tree (`parentId`); an abandoned branch stays in the file. All of it is kept, in the order of writing.
 * - A fork names the file that it was made from (`branchedFrom`, `parentSession`), and begins with its lines, which
 *   are marked and not counted (forks.ts).
 * - An answer has its own tokens and cost.
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

/** Reads a session's file of Pi, or of a program that writes as it does. */
export async function readSession(input: Input, sink: Sink, { source, id, prefix, parent }: FileFacts): Promise<void> {
  const session = new PiSession(sink, source, id, await findSurroundings(input, prefix));
  if (parent !== undefined) session.noteParent(parent);
  await readRecords(input.path, sink, (record) => session.add(record));
  session.end();
}
