import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { missingNote } from "../../files/line-shortener.ts";

/** What stays of an output. */
const maxBytes = 4 * 1024 * 1024;
const tag = "<persisted-output>";
/** Where the session's line says that its output is: `…/SESSION/tool-results/FILE`. */
const saved = /[\\/]([\w-]+)[\\/]tool-results[\\/]([\w-][\w.-]*)[ \t]*$/m;

/**
 * Outputs of tools that were too large for the conversation: the session has the beginning of each, and the rest is in a file, until
 * Claude Code deletes it.
 */
export class SavedOutputs {
  readonly #project: string;

  /** @param sessionPath of the session's own file, or of a sub-agent's in its folder */
  constructor(sessionPath: string) {
    const below = sessionPath.lastIndexOf(`${sep}subagents${sep}`);
    this.#project = dirname(below === -1 ? sessionPath : sessionPath.slice(0, below));
  }

  /**
   * An output as its file has it; the same text where there is no such file. Only names are taken from the text: files are looked
   * for in the project's folder, wherever it is now.
   */
  whole(output: string): string {
    if (!output.startsWith(tag)) return output;
    const [, session, file] = saved.exec(output.slice(0, 4096)) ?? [];
    if (session === undefined || file === undefined) return output;
    return read(join(this.#project, session, "tool-results", file)) ?? output;
  }
}

/** A text without the character in its middle that it was cut in: as many marks of it as a character has bytes, less one. */
const withoutCut = (text: string): string => text.replace(/\ufffd{1,3}$/, "");

function read(path: string): string | undefined {
  let file: number | undefined;
  try {
    // Nothing but a file of its own is read: no link, and no pipe that nobody writes to.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(file);
    if (!found.isFile()) return undefined;
    const bytes = Buffer.allocUnsafe(Math.min(found.size, maxBytes));
    const length = readSync(file, bytes, 0, bytes.length, 0);
    const text = bytes.toString("utf8", 0, length);
    const missing = found.size - length;
    return missing > 0 ? withoutCut(text) + missingNote(missing, "bytes") : text;
  } catch {
    return undefined; // it was deleted, or may not be read: the session has its beginning
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
