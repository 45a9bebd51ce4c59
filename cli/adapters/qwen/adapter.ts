import { basename, dirname, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { QwenSession, source } from "./session.ts";

/**
 * Qwen Code: a file of JSON lines for each session, `projects/PROJECT/chats/ID.jsonl`.
 *
 * - Records form a tree (`parentUuid`): after a rewind, what was taken back stays in the file. All of it is kept, in the order
 *   of writing.
 * - The file's name is the session's id; a fork's records name the session that they were copied from.
 * - Content has the shape of Gemini's API (`parts`); token counts include those from the cache.
 */
export const qwen: Adapter = {
  name: source,
  title: "Qwen Code",
  version: 2,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl"))) {
        if (basename(dirname(input.path)) === "chats" || input.stamp === "forbidden") yield input;
      }
    }
  },
  async parse(input, sink) {
    const session = new QwenSession(sink, basename(input.path, ".jsonl"));
    await readRecords(input.path, sink, (record) => session.add(record));
    session.end();
  },
};

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.QWEN_HOME;
  if (named) return [{ path: join(named, "projects"), variable: "QWEN_HOME" }];
  return [{ path: join(home, ".qwen", "projects") }];
}
