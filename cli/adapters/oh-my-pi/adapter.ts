import { dirname, join, relative, sep } from "node:path";
import { readBeginning } from "../../files/byte-reader.ts";
import { statInput } from "../../files/discovery.ts";
import { isFields, parseJson } from "../../files/json.ts";
import { makeFileAdapter } from "../make-adapter.ts";
import { readSession } from "../pi/adapter.ts";
import { parseSessionId } from "../pi/forks.ts";
import { asString } from "../values.ts";

const source = "oh-my-pi";

export const ohMyPi = makeFileAdapter({
  name: source,
  title: "Oh My Pi",
  version: 3,
  getSearchRoots: ({ home }) => [{ path: join(home, ".omp", "agent", "sessions") }],
  matches: (name) => name.endsWith(".jsonl"),
  accepts: ({ path }, root) => relative(root, path).includes(sep),
  async parse(input, sink) {
    const parent = await readSessionId(`${dirname(input.path)}.jsonl`);
    await readSession(input, sink, { source, id: parseSessionId(input.path), parent });
  },
});

async function readSessionId(path: string): Promise<string | undefined> {
  if (!(await statInput(path))) return undefined;
  for (const line of readBeginning(path).split("\n").slice(0, 2)) {
    const record = parseJson(line);
    if (isFields(record) && record.type === "session") return asString(record.id) ?? parseSessionId(path);
  }
  return parseSessionId(path);
}
