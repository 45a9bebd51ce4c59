import { basename, join } from "node:path";
import { findFiles } from "../../files/discovery.ts";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { withStampOf } from "../session-files.ts";
import { DroidSession, source } from "./session.ts";

/**
 * Model and tokens are known for the whole session only. Output of `droid exec --output-format stream-json` is read,
 * too, if somebody kept it there.
 */
export const droid: Adapter = {
  name: source,
  title: "Droid",
  version: 5,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl")))
        yield await withStampOf(input, getSettingsPath(input.path));
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
