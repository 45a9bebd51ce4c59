import { basename, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { findSurroundings, parseSessionId } from "./forks.ts";
import { PiSession } from "./session.ts";

const source = "pi";

/**
 * Pi: a file of JSON lines for each session, `TIME_ID.jsonl`, in a folder for each project.
 *
 * - Lines form a tree (`parentId`): after going back, the branch that was left stays in the file. All of it is kept, in the
 *   order of writing.
 * - A fork names the file that it was made from (`branchedFrom`, `parentSession`), and begins with its lines: those that an older
 *   file has are marked and not counted (forks.ts).
 * - An answer names its own tokens and its cost.
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
    const session = new PiSession(sink, source, parseSessionId(basename(input.path)), await findSurroundings(input));
    await readRecords(input.path, sink, (record) => session.add(record));
    session.end();
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const { PI_CODING_AGENT_SESSION_DIR: sessions, PI_CODING_AGENT_DIR: named } = env;
  if (sessions) return [{ path: sessions, variable: "PI_CODING_AGENT_SESSION_DIR" }];
  if (named) return [{ path: join(named, "sessions"), variable: "PI_CODING_AGENT_DIR" }];
  return [{ path: join(home, ".pi", "agent", "sessions") }];
}
