import { join } from "node:path";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { findSessions } from "../claude-code/discovery.ts";
import { readIdentity } from "../claude-code/identity.ts";
import type { Dialect } from "../claude-code/messages.ts";
import { parseSession } from "../claude-code/parse.ts";

const dialect: Dialect = { source: "openclaude" };

/** OpenClaude: a file of JSON lines for each session and each sub-agent, in Claude Code's format. */
export const openclaude: Adapter = {
  name: dialect.source,
  title: "OpenClaude",
  version: 5,
  searchRoots,
  discover: (host) => findSessions(searchRoots(host)),
  async parse(input, sink) {
    await parseSession(input, sink, dialect, await readIdentity(input.path));
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.OPENCLAUDE_CONFIG_DIR;
  if (named) return [{ path: join(named, "projects"), variable: "OPENCLAUDE_CONFIG_DIR" }];
  return [{ path: join(home, ".openclaude", "projects") }];
}
