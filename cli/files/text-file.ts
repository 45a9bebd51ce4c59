import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/**
 * The text of a file; undefined for what is none: a pipe that nobody writes to would never end, and not even Ctrl-C would help.
 *
 * @throws where it is missing or can't be read
 */
export async function readTextFile(path: string): Promise<string | undefined> {
  // In this thread: most such files are small, and there may be one beside each session.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return fstatSync(file).isFile() ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}
