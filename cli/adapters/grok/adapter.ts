import { basename, dirname, join } from "node:path";
import { findFiles, statInput } from "../../files/discovery.ts";
import { isFields } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, Input, SearchRoot } from "../adapter.ts";
import { findCopied } from "./forks.ts";
import { getModel, historyMessages } from "./history.ts";
import { GrokSession, source } from "./session.ts";

const log = "updates.jsonl";
const history = "chat_history.jsonl";

/**
 * Grok Build: a folder for each session, `sessions/PROJECT/ID`.
 *
 * - `updates.jsonl` is the log of the conversation, with times and each turn's tokens.
 * - `chat_history.jsonl` is what the model was sent last: it is read where there is no log, as of sub-agents that were given their
 *   parent's history.
 * - `summary.json` has the session's own fields.
 */
export const grok: Adapter = {
  name: source,
  title: "Grok Build",
  version: 2,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name === log || name === history)) {
        if (await isRead(input)) yield await withSummary(input);
      }
    }
  },
  async parse(input, sink) {
    const { path } = input;
    const folder = dirname(path);
    const read = await readJsonFile(join(folder, "summary.json"));
    const summary = isFields(read) ? read : {};
    const session = new GrokSession(sink, basename(folder), summary, await findCopied(input, summary));
    await readRecords(path, sink, (record) => {
      if (basename(path) === log) session.addUpdate(record);
      else session.addMessages(historyMessages(record, session.unhandled), getModel(record));
    });
    session.end();
  },
};

/** Of a session's two files, the log is read, unless it is empty. */
async function isRead(input: Input): Promise<boolean> {
  if (input.stamp === "forbidden" || basename(input.path) === log)
    return input.bytes > 0 || input.stamp === "forbidden";
  return ((await statInput(join(dirname(input.path), log)))?.bytes ?? 0) === 0;
}

async function withSummary(input: Input): Promise<Input> {
  const summary = await statInput(join(dirname(input.path), "summary.json"));
  return summary ? { ...input, stamp: `${input.stamp} ${summary.stamp}` } : input;
}

function searchRoots({ home, env }: Host): SearchRoot[] {
  const named = env.GROK_HOME;
  if (named) return [{ path: join(named, "sessions"), variable: "GROK_HOME" }];
  return [{ path: join(home, ".grok", "sessions") }];
}
