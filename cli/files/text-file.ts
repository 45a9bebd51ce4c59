import { constants } from "node:fs";
import { open } from "node:fs/promises";

/**
 * The text of a file; undefined for what is none: a pipe that nobody writes to would never end, and not even Ctrl-C would help.
 *
 * @throws where it is missing or can't be read
 */
export async function readTextFile(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return (await file.stat()).isFile() ? await file.readFile("utf8") : undefined;
  } finally {
    await file.close();
  }
}
