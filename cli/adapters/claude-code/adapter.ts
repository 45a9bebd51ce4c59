import { join } from "node:path";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { splitFolders } from "../named-folders.ts";
import { findSessions } from "./discovery.ts";
import { findHistories, isHistory, parseHistory } from "./ghosts.ts";
import { readIdentity } from "./identity.ts";
import type { Dialect } from "./messages.ts";
import { parseSession } from "./parse.ts";

const dialect: Dialect = { source: "claude-code" };

export const claudeCode: Adapter = {
  name: dialect.source,
  title: "Claude Code",
  version: 8,
  getSearchRoots,
  async *discover(host) {
    yield* findSessions(getSearchRoots(host));
    yield* findHistories(getSearchRoots(host));
  },
  async parse(input, sink) {
    if (isHistory(input.path)) return parseHistory(input, sink, dialect.source);
    await parseSession(input, sink, dialect, await readIdentity(input.path));
  },
};

function getSearchRoots(host: Host): SearchRoot[] {
  const named = splitFolders(host, host.env.CLAUDE_CONFIG_DIR, ",");
  if (named.length > 0) return named.map((path) => ({ path: join(path, "projects"), variable: "CLAUDE_CONFIG_DIR" }));
  const { home } = host;
  return [{ path: join(home, ".claude", "projects") }, { path: join(home, ".config", "claude", "projects") }];
}
