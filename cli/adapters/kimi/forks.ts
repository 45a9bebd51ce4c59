import { readLines } from "../../files/line-reader.ts";

/**
 * How many of a log's first lines were copied from the session that it was forked from: those before the latest line that says so.
 * It is found without parsing the others.
 */
export async function copiedLines(path: string): Promise<number> {
  let copied = 0;
  const take = (line: string, number: number) => {
    if (/^\{"type":\s*"forked"/.test(line)) copied = number;
  };
  await readLines(path, take, { tooLong() {}, pause: async () => {} });
  return copied;
}
