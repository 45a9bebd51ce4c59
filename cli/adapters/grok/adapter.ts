import { basename, dirname, join } from "node:path";
import { findFiles, statInput } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { homeRoot } from "../search-roots.ts";
import { withStampOf } from "../session-files.ts";
import { asFields } from "../values.ts";
import { findCopied } from "./forks.ts";
import { getModel, historyMessages } from "./history.ts";
import { GrokSession, source } from "./session.ts";

const log = "updates.jsonl";
const history = "chat_history.jsonl";

/**
 * `updates.jsonl` has times and each turn's tokens. `chat_history.jsonl`, which the model was sent last, is read if
 * there is no log, as for sub-agents with their parent's history.
 */
export const grok: Adapter = {
  name: source,
  title: "Grok Build",
  version: 2,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name === log || name === history)) {
        if (await isRead(input)) yield await withStampOf(input, join(dirname(input.path), "summary.json"));
      }
    }
  },
  async parse(input, sink) {
    const { path } = input;
    const folder = dirname(path);
    const summary = asFields(await readJsonFile(join(folder, "summary.json")));
    const session = new GrokSession(sink, basename(folder), summary, await findCopied(input, summary));
    await readRecords(path, sink, (record) => {
      if (basename(path) === log) session.addUpdate(record);
      else session.addMessages(historyMessages(record, session.unhandled), getModel(record));
    });
    session.end();
  },
};

async function isRead(input: Input): Promise<boolean> {
  if (input.stamp === "forbidden" || basename(input.path) === log)
    return input.bytes > 0 || input.stamp === "forbidden";
  return ((await statInput(join(dirname(input.path), log)))?.bytes ?? 0) === 0;
}

function searchRoots(host: Host): SearchRoot[] {
  return [homeRoot(host, "GROK_HOME", ".grok", "sessions")];
}
