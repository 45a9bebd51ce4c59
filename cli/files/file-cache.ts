import { isMissingOrForbidden, statInput } from "./discovery.ts";
import { type Fields, isFields, parseJson } from "./json.ts";
import { readLines } from "./line-reader.ts";

/** @param none returned for a file that is missing or may not be read */
export function cacheByStamp<T>(read: (path: string) => Promise<T>, none: T): (path: string) => Promise<T> {
  const cached = new Map<string, { stamp: string; value: T }>();
  return async (path) => {
    const file = await statInput(path);
    if (!file) return none;
    const known = cached.get(path);
    if (known?.stamp === file.stamp) return known.value;
    try {
      const value = await read(path);
      cached.set(path, { stamp: file.stamp, value });
      return value;
    } catch (error) {
      if (isMissingOrForbidden(error)) return none;
      throw error;
    }
  };
}

/** Takes the objects in a file of JSON lines, without counting or reporting anything. */
export async function readLinesQuietly(path: string, take: (record: Fields) => void): Promise<void> {
  const takeLine = (line: string) => {
    const record = parseJson(line);
    if (isFields(record)) take(record);
  };
  await readLines(path, takeLine, { tooLong() {}, pause: async () => {} });
}

/** @param read returns the key and the value in a line */
export const makeLineIndex = (
  read: (line: Fields) => [key: string | undefined, value: string | undefined],
): ((path: string) => Promise<ReadonlyMap<string, string>>) =>
  cacheByStamp(async (path) => {
    const index = new Map<string, string>();
    await readLinesQuietly(path, (line) => {
      const [key, value] = read(line);
      if (key && value) index.set(key, value);
    });
    return index;
  }, new Map());
