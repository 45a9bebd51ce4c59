import { isMissingOrForbidden, statInput } from "./discovery.ts";
import { type Fields, isFields, parseJson } from "./json.ts";
import { readLines } from "./line-reader.ts";

type Index = ReadonlyMap<string, string>;

const known = new Map<string, { stamp: string; index: Index }>();

/** Reads the last value of each key from a JSON Lines file; empty if it can't be read. */
export async function readLineIndex(
  path: string,
  read: (line: Fields) => [key: string | undefined, value: string | undefined],
): Promise<Index> {
  const file = await statInput(path);
  const before = known.get(path);
  if (!file || before?.stamp === file.stamp) return (file && before?.index) ?? new Map();
  const index = new Map<string, string>();
  const take = (line: string) => {
    const entry = parseJson(line);
    const [key, value] = isFields(entry) ? read(entry) : [];
    if (key && value) index.set(key, value);
  };
  try {
    await readLines(path, take, { tooLong() {}, pause: async () => {} });
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
  }
  known.set(path, { stamp: file.stamp, index });
  return index;
}
