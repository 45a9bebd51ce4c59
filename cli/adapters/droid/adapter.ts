import { basename, join } from "node:path";
import { readRecords } from "../../files/json-lines.ts";
import { readJsonFile } from "../../files/state-files.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { DroidSession, source } from "./session.ts";

export const droid = makeFileAdapter({
  name: source,
  title: "Droid",
  version: 5,
  getSearchRoots: ({ home }) => [{ path: join(home, ".factory", "sessions") }],
  matches: (name) => name.endsWith(".jsonl"),
  getSibling: (path) => getSettingsPath(path),
  async parse(input, sink) {
    const session = new DroidSession(sink, basename(input.path, ".jsonl"));
    await readRecords(input.path, sink, (record) => session.add(record));
    session.end(await readJsonFile(getSettingsPath(input.path)));
  },
});

const getSettingsPath = (path: string): string => path.replace(/\.jsonl$/, ".settings.json");
