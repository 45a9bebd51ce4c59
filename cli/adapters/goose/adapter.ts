import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, SearchRoot, Sink } from "../adapter.ts";
import { getDataRoot, getLocalDataRoot, getProgramFolder } from "../search-roots.ts";
import { SessionBuilder } from "../session-builder.ts";
import { findSessions, readDatabase, splitInputPath } from "../sqlite.ts";
import { listSessions, readSession, readUsage } from "./database.ts";
import { readContent, source, toTime } from "./messages.ts";

const databaseName = "sessions.db";

export const goose: Adapter = {
  name: source,
  title: "Goose",
  version: 2,
  getSearchRoots,
  async *discover(host) {
    const known = new Set<string>();
    for (const { path } of getSearchRoots(host)) {
      const database = join(path, databaseName);
      for (const input of await findSessions(database, listSessions)) {
        const { id } = splitInputPath(input.path);
        if (id !== undefined && known.has(id)) continue;
        if (id !== undefined) known.add(id);
        yield input;
      }
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl"))) {
        const isSession = dirname(input.path) === path && !known.has(basename(input.path, ".jsonl"));
        if (isSession || input.stamp === "forbidden") yield input;
      }
    }
  },
  async parse({ path }, sink) {
    if (path.endsWith(".jsonl")) return readOlderSession(path, sink);
    await readDatabase(path, sink, listSessions, (database, id) => readSession(database, id, sink));
  },
};

function getSearchRoots(host: Host): SearchRoot[] {
  const { env, platform } = host;
  const root = env.GOOSE_PATH_ROOT;
  if (root) return [{ path: join(root, "data", "sessions"), variable: "GOOSE_PATH_ROOT" }];
  if (platform === "win32") return [{ path: join(getProgramFolder(host), "Block", "goose", "data", "sessions") }];
  const shared = getDataRoot(host, "goose", "sessions");
  return platform === "darwin" ? [shared, getLocalDataRoot(host, "Block", "goose", "sessions")] : [shared];
}

async function readOlderSession(path: string, sink: Sink): Promise<void> {
  const session = new SessionBuilder(sink, source, basename(path, ".jsonl"));
  await readRecords(path, sink, (record) => {
    if (record.role === undefined && record.working_dir !== undefined) {
      session.noteFolder(record.working_dir);
      session.noteTitle(record.description);
      session.addUsage(readUsage(record.accumulated_input_tokens, record.accumulated_output_tokens));
      sink.skipped();
      return;
    }
    const messages = readContent(record.role, record.content, false, (type) => sink.unhandled(type));
    session.add(messages, { at: toTime(record.created) });
  });
  session.end();
}
