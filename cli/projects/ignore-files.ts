import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob, splitPath } from "./globs.ts";

/** A file in a project's folder that says which sessions of that folder, and of those below it, are never sent. */
const ignoreFileName = ".spoorignore";

/** A longer one is not read, since it may be a stranger's: it leaves out its folder. */
const maxBytes = 64 * 1024;
const maxLines = 1000;
/** No path is longer. */
const maxLineLength = 4096;

type IgnoreLine = { isTakenBack: boolean; isForFolderItself: boolean; glob: Glob };
/** `all` for one without patterns, or that can't be read as a whole. */
type IgnoreFile = { path: string; lines: IgnoreLine[] | "all" };

/** Answers which `.spoorignore` leaves out a folder. Each file is read once. */
export class IgnoreFiles {
  readonly #files = new Map<string, IgnoreFile | undefined>();
  readonly #ignoresCase: boolean;
  readonly #home: string;

  /** @param home the search for files ends there, or at the root */
  constructor(home: string, ignoresCase: boolean) {
    this.#home = home;
    this.#ignoresCase = ignoresCase;
  }

  /** The outermost file that leaves out a folder; of its own lines that match the last one counts, and no other file takes that back. */
  findExcludingFile(folder: string): string | undefined {
    for (const above of listFoldersAbove(folder, this.#home)) {
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
    const text = readSmallFile(path);
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
    // As in .gitignore: without a slash, but for the last, it is a name at any depth.
    const isAnchored = pattern.slice(0, -1).includes("/");
    const glob = new Glob((isAnchored ? parts : ["**", ...parts]).join("/"), { ignoresCase: this.#ignoresCase });
    return { isTakenBack, isForFolderItself: parts.every((part) => part === "*" || part === "**"), glob };
  }
}

/** A line without the blanks at its end, but for one behind a backslash. */
function withoutBlanks(line: string): string {
  const rest = line.trimEnd();
  return rest.endsWith("\\") ? line.slice(0, rest.length + 1) : rest;
}

/** @param below the folder's path from the file's folder on */
function excludesFolder(lines: IgnoreFile["lines"], below: string[]): boolean {
  if (lines === "all") return true;
  const last = lines.findLast(({ glob, isOfFolderItself }) =>
    below.length === 0 ? isOfFolderItself : glob.matchesPath(below),
  );
  return last !== undefined && !last.isTakenBack;
}

/** A folder and those above it, up to the home folder or the root; outermost first. */
function listFoldersAbove(folder: string, home: string): string[] {
  const found = [folder];
  for (let at = folder; at !== home && dirname(at) !== at; ) {
    at = dirname(at);
    found.unshift(at);
  }
  return found;
}

/** @returns undefined where there is none; an empty text for what is no file, too long, or no text */
function readSmallFile(path: string): string | undefined {
  let file: number | undefined;
  try {
    // A pipe of that name must not block.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!fstatSync(file).isFile()) return "";
    const buffer = Buffer.alloc(maxBytes + 1);
    const bytes = readSync(file, buffer, 0, buffer.length, 0);
    return bytes > maxBytes ? "" : decode(buffer.subarray(0, bytes));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** UTF-8, or UTF-16 as Windows PowerShell's `>` writes it, without a byte order mark; an empty text for anything else. */
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
