import { basename, dirname, join, relative, sep } from "node:path";
import { readBeginning } from "../../files/byte-reader.ts";
import { findFiles, statInput } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { readRecords } from "../../files/json-lines.ts";
import type { Adapter, Host, SearchRoot } from "../adapter.ts";
import { findSurroundings, parseSessionId } from "../pi/forks.ts";
import { PiSession } from "../pi/session.ts";
import { asString } from "../values.ts";

const source = "oh-my-pi";

/**
 * Oh My Pi: a file of JSON lines for each session, as Pi writes them, `PROJECT/TIME_ID.jsonl`.
 *
 * - The first line may be a place for the title, which is written again whenever the title changes.
 * - Sub-agents have files in a folder that is named after their session's file, some levels deep.
 */
export const ohMyPi: Adapter = {
  name: source,
  title: "Oh My Pi",
  version: 3,
  searchRoots,
  async *discover(host) {
    for (const { path } of searchRoots(host)) {
      for await (const input of findFiles(path, (name) => name.endsWith(".jsonl"))) {
        const isInProject = relative(path, input.path).includes(sep);
        if (isInProject || input.stamp === "forbidden") yield input;
      }
    }
  },
  async parse(input, sink) {
    const session = new PiSession(sink, source, parseSessionId(basename(input.path)), await findSurroundings(input));
    const parent = await sessionIn(`${dirname(input.path)}.jsonl`);
    if (parent !== undefined) session.noteParent(parent);
    await readRecords(input.path, sink, (record) => session.add(record));
    session.end();
  },
};

/** The id of the session in a file, as its first lines name it; undefined where there is no such file. */
async function sessionIn(path: string): Promise<string | undefined> {
  if (!(await statInput(path))) return undefined;
  for (const line of readBeginning(path).split("\n").slice(0, 2)) {
    const record = parseJson(line);
    if (isFields(record) && record.type === "session") return asString(record.id) ?? parseSessionId(path);
  }
  return parseSessionId(path);
}

function searchRoots({ home }: Host): SearchRoot[] {
  return [{ path: join(home, ".omp", "agent", "sessions") }];
}
