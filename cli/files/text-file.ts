import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/**
 * Reads a text file; undefined for anything else, such as a pipe, which could block forever.
 *
 * @throws if it is missing or can't be read
 */
export async function readTextFile(path: string): Promise<string | undefined> {
  // Synchronous, because such files are small and there may be one next to each session.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return fstatSync(file).isFile() ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}
