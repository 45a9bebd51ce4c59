import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { missingNote } from "../../files/line-shortener.ts";

const maxBytes = 4 * 1024 * 1024;
const tag = "<persisted-output>";
/** Matches the file in the session's line: `…/SESSION/tool-results/FILE`. */
const saved = /[\\/]([\w-]+)[\\/]tool-results[\\/]([\w-][\w.-]*)[ \t]*$/m;

/** The conversation only has the beginnings of large outputs. */
export class SavedOutputs {
  readonly #project: string;

  constructor(sessionPath: string) {
    const below = sessionPath.lastIndexOf(`${sep}subagents${sep}`);
    this.#project = dirname(below === -1 ? sessionPath : sessionPath.slice(0, below));
  }

  /** Returns the beginning if there is no file. Only names are taken from the text. */
  readWhole(output: string): string {
    if (!output.startsWith(tag)) return output;
    const [, session, file] = saved.exec(output.slice(0, 4096)) ?? [];
    if (session === undefined || file === undefined) return output;
    return read(join(this.#project, session, "tool-results", file)) ?? output;
  }
}

/** A cut character leaves as many replacement marks as it had bytes, less one. */
const withoutCut = (text: string): string => text.replace(/\ufffd{1,3}$/, "");

function read(path: string): string | undefined {
  let file: number | undefined;
  try {
    // A link is not followed, and a pipe that nobody writes to would block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(file);
    if (!found.isFile()) return undefined;
    const bytes = Buffer.allocUnsafe(Math.min(found.size, maxBytes));
    const length = readSync(file, bytes, 0, bytes.length, 0);
    const text = bytes.toString("utf8", 0, length);
    const missing = found.size - length;
    return missing > 0 ? withoutCut(text) + missingNote(missing, "bytes") : text;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
