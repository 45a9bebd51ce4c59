import { basename, join } from "node:path";
import { findFiles, statInput } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { DroidSession, source } from "./session.ts";

/**
 * Droid (Factory): a file of JSON lines for each session, `ID.jsonl`, and `ID.settings.json` beside it.
 *
 * - Content has the shape of Anthropic's API; what the program adds to the user's words stands in `<system-reminder>`.
 * - Model and tokens are known for the whole session only, from its settings.
 * - What `droid exec --output-format stream-json` prints is read, too, where somebody kept it there.
 */
export const droid: Adapter = {
  name: source,
  title: "Droid",
  version: 5,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl"))) {
        const settings = await statInput(getSettingsPath(input.path));
        yield settings ? { ...input, stamp: `${input.stamp}+${settings.stamp}` } : input;
      }
    }
  },
  async parse(input, sink) {
    const session = new DroidSession(sink, basename(input.path, ".jsonl"));
    await readRecords(input.path, sink, (record) => session.add(record));
    session.end(await readJsonFile(getSettingsPath(input.path)));
  },
};

const getSettingsPath = (path: string): string => path.replace(/\.jsonl$/, ".settings.json");

function searchRoots({ home }: Host): SearchRoot[] {
  return [{ path: join(home, ".factory", "sessions") }];
}
