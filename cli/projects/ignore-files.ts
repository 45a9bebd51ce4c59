import { join } from "node:path";
import { listFoldersAbove } from "../adapters/search-roots.ts";
import { readFileNow } from "../files/byte-reader.ts";
import { Glob, splitPath } from "./globs.ts";

const ignoreFileName = ".spoorignore";

/** A longer file may be hostile, so it is not read, and its folder is left out. */
const maxBytes = 64 * 1024;
const maxLines = 1000;
const maxLineLength = 4096;

type IgnoreLine = { isTakenBack: boolean; isForFolderItself: boolean; glob: Glob };
/** `all` if it has no patterns or can't be read. */
type IgnoreFile = { path: string; lines: IgnoreLine[] | "all" };

/** Finds the `.spoorignore` that leaves out a folder. Each file is read once. */
export class IgnoreFiles {
  readonly #files = new Map<string, IgnoreFile | undefined>();
  readonly #ignoresCase: boolean;
  readonly #home: string;

  constructor(home: string, ignoresCase: boolean) {
    this.#home = home;
    this.#ignoresCase = ignoresCase;
  }

  /** A file's last matching line counts, and no other file overrides it. */
  findExcludingFile(folder: string): string | undefined {
    for (const above of listFoldersAbove({ cwd: folder, home: this.#home }).reverse()) {
      const file = this.#fileIn(above);
      if (!file) continue;
      const below = splitPath(folder.slice(above.length).replaceAll("\\", "/"));
      if (excludesFolder(file.lines, below)) return file.path;
    }
    return undefined;
  }

  #fileIn(folder: string): IgnoreFile | undefined {
    if (this.#files.has(folder)) return this.#files.get(folder);
    const path = join(folder, ignoreFileName);
    const text = readPatterns(path);
    const lines = text === undefined ? undefined : this.#parse(text);
    const file = lines && { path, lines };
    this.#files.set(folder, file);
    return file;
  }

  #parse(text: string): IgnoreLine[] | "all" {
    const lines = text
      .split(/\r?\n/)
      .map(withoutBlanks)
      .filter((line) => line !== "" && !line.startsWith("#"));
    const isTooLong = lines.length > maxLines || lines.some((line) => line.length > maxLineLength);
    return lines.length === 0 || isTooLong ? "all" : lines.map((line) => this.#parseLine(line));
  }

  #parseLine(line: string): IgnoreLine {
    const isTakenBack = line.startsWith("!");
    const pattern = isTakenBack ? line.slice(1) : line;
    const parts = splitPath(pattern).filter((part) => part !== ".");
    // As in .gitignore, a pattern with no slash before its end is a name at any depth.
    const isAnchored = pattern.slice(0, -1).includes("/");
    const glob = new Glob((isAnchored ? parts : ["**", ...parts]).join("/"), { ignoresCase: this.#ignoresCase });
    return { isTakenBack, isForFolderItself: parts.every((part) => part === "*" || part === "**"), glob };
  }
}

/** Removes blanks at the end, except one after a backslash. */
function withoutBlanks(line: string): string {
  const rest = line.trimEnd();
  return rest.endsWith("\\") ? line.slice(0, rest.length + 1) : rest;
}

function excludesFolder(lines: IgnoreFile["lines"], below: string[]): boolean {
  if (lines === "all") return true;
  const last = lines.findLast(({ glob, isForFolderItself }) =>
    below.length === 0 ? isForFolderItself : glob.matchesPath(below),
  );
  return last !== undefined && !last.isTakenBack;
}

function readPatterns(path: string): string | undefined {
  try {
    const found = readFileNow(path, maxBytes);
    return found === undefined || found === "folder" ? "" : decode(found);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : "";
  }
}

/** Windows PowerShell's `>` writes UTF-16. Anything else becomes an empty text. */
function decode(bytes: Buffer): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes("\0") ? "" : text;
  } catch (error) {
    if (error instanceof TypeError) return "";
    throw error;
  }
}
