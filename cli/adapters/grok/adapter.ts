import { basename, dirname, join } from "node:path";
import { statInput } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Input } from "../adapter.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { getHomeRoot } from "../search-roots.ts";
import { asFields } from "../values.ts";
import { findCopied } from "./forks.ts";
import { getModel, readHistoryItem } from "./history.ts";
import { GrokSession, source } from "./session.ts";

const log = "updates.jsonl";
const history = "chat_history.jsonl";

export const grok = makeFileAdapter({
  name: source,
  title: "Grok Build",
  version: 2,
  getSearchRoots: (host) => [getHomeRoot(host, "GROK_HOME", ".grok", "sessions")],
  matches: (name) => name === log || name === history,
  accepts: isRead,
  getSibling: (path) => join(dirname(path), "summary.json"),
  async parse(input, sink) {
    const { path } = input;
    const folder = dirname(path);
    const summary = asFields(await readJsonFile(join(folder, "summary.json")));
    const session = new GrokSession(sink, basename(folder), summary, await findCopied(input, summary));
    await readRecords(path, sink, (record) => {
      if (basename(path) === log) session.addUpdate(record);
      else session.addMessages(readHistoryItem(record, session.unhandled), getModel(record));
    });
    session.end();
  },
});

async function isRead({ path, bytes }: Input): Promise<boolean> {
  if (basename(path) === log) return bytes > 0;
  return ((await statInput(join(dirname(path), log)))?.bytes ?? 0) === 0;
}
