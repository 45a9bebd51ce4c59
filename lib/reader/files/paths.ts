import { maxRemoteChars } from "#lib/evidence/remotes";
import { composePath, isWrittenByWindows, spellingOf } from "#lib/evidence/spelling";

/** Where a session's files are, as far as its trace tells. */
export type Place = {
  /** The session's folder, in which relative paths are. */
  folder?: string;
  /** What paths are relative to: the project's root, and further folders that hold the same files. */
  roots: string[];
  home?: string;
  isWindows: boolean;
};

const maxCharacters = 1024;
/** A path is no longer as a call writes it. */
export const maxWritten = 2 * maxCharacters;
/** With the other columns of the table's key it must fit into an entry of an index, of 2,704 bytes. */
const maxBytes = 2048;

type Fields = Record<string, unknown>;

/**
 * The place that a trace's metadata tells of: `cwd`, and above it the folder with the repository's name (`repository`) or of a
 * worktree that Claude Code made (`.claude/worktrees/NAME`), which is another copy of the project's files.
 */
export function readPlace(metadata: Fields | null): Place {
  const given = metadata?.cwd;
  if (typeof given !== "string" || given.length > maxCharacters) return { roots: [], isWindows: false };
  // Windows writes backslashes also in a folder of WSL, and case does not count in one of its own that WSL writes.
  const isWindows = isWrittenByWindows(given) || spellingOf(given).isWindows;
  const folder = tidy(given, isWindows).replace(/(?<=[^/])\/$/, "");
  if (!isAbsolute(folder)) return { roots: [], isWindows };
  const [, project, copy] = worktree.exec(folder) ?? [];
  const roots =
    project === undefined
      ? [findCheckout(folder, metadata?.repository)]
      : [`${project}/.claude/worktrees/${copy}`, project];
  const [home] = /^(?:[A-Z]:)?\/(?:home|Users)\/[^/]+|^\/root(?=\/|$)/i.exec(folder) ?? [];
  return { folder, roots, isWindows, ...(home && { home }) };
}

/** A worktree that Claude Code made: its project's folder, and its own name. Windows may write that in any case. */
const worktree = /^(.+?)\/\.claude\/worktrees\/([^/]+)(?=\/|$)/i;

/** The only folder at or above one that bears the repository's name, else the folder itself. */
function findCheckout(folder: string, repository: unknown): string {
  const remote = typeof repository === "string" && repository.length <= maxRemoteChars ? repository : "";
  const [, name] = /([^/:]+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  if (!name) return folder;
  const parts = folder.split("/");
  const places = parts.flatMap((part, at) => (part.toLowerCase() === name.toLowerCase() ? [at] : []));
  return places.length === 1 ? parts.slice(0, (places[0] as number) + 1).join("/") : folder;
}

/**
 * A path as the ledger keeps it: below the project's root relative to it, else absolute; with `/` between its parts, and
 * without `.` and `..`. Where the trace tells no root, it stays as it was written.
 *
 * @param folder where a relative path is, if not in the session's own folder
 * @returns undefined where it names no file, or is too long
 */
export function projectPath(written: string, place: Place, folder?: string): string | undefined {
  if (written.length > maxWritten) return undefined;
  const path = absolute(unquoted(written), place, folder);
  if (path === undefined || path === place.folder || place.roots.includes(path)) return undefined;
  const found = relative(path, place);
  if (found.length > maxCharacters || Buffer.byteLength(found) > maxBytes) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: PostgreSQL's texts have no NUL, and no file's name has a newline
  if (/[\x00-\x1f\x7f]/.test(found) || !found.isWellFormed()) return undefined;
  return /(?:^|\/)(?:|\.|\.\.|~)$|^[A-Za-z]:$/.test(found) ? undefined : found;
}

/** A path as people read it: below the project's folder relative to it, else below the person's home with a `~`. */
export function shortPath(written: string, place: Place): string {
  const path = projectPath(written, place) ?? written;
  return path.replace(/^(?:\/(?:Users|home)\/[^/]+|\/root)(?=\/.)/, "~");
}

/** The last part of a path, in lower case: by it the table is searched. */
export const getFileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1).toLowerCase();

function unquoted(written: string): string {
  const text = written.trim();
  const bare = /^(["'`])(.+)\1$/.exec(text)?.[2] ?? text;
  if (!/^file:\/\//i.test(bare)) return bare;
  try {
    return decodeURIComponent(bare.replace(/^file:\/\/(?:localhost)?/i, "")).replace(/^\/(?=[A-Za-z]:)/, "");
  } catch (error) {
    if (error instanceof URIError) return "";
    throw error;
  }
}

/** Undefined for an address of the web. */
function absolute(path: string, place: Place, folder: string | undefined): string | undefined {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return undefined;
  const isWindows = place.isWindows || isWrittenByWindows(path);
  const clean = tidy(path, isWindows);
  if (clean.startsWith("~/")) return place.home ? tidy(place.home + clean.slice(1), isWindows) : clean;
  if (isAbsolute(clean)) return clean;
  const base = folder === undefined ? place.folder : absolute(folder, place, undefined);
  return base === undefined ? clean : tidy(`${base}/${clean}`, isWindows);
}

function relative(path: string, { roots, isWindows }: Place): string {
  const folded = (text: string) => (isWindows ? text.toLowerCase() : text);
  for (const root of roots) {
    const start = root === "/" ? root : `${root}/`;
    if (!folded(path).startsWith(folded(start))) continue;
    // A worktree holds the project's files once more.
    return path.slice(start.length).replace(/^\.claude\/worktrees\/[^/]+\/(?=.)/i, "");
  }
  return path;
}

const isAbsolute = (path: string) => path.startsWith("/") || /^[A-Z]:\//.test(path);

/** One way to write a path, of Windows as `spellingOf` does; without `.`, `..` and `//`. macOS' `/private/tmp` is its `/tmp`. */
function tidy(path: string, isWindows: boolean): string {
  const plain = isWindows ? spellingOf(path.replaceAll("\\", "/")).path : composePath(path);
  const start = /^(?:[A-Z]:\/|\/\/(?=[^/])|\/)?/.exec(plain)?.[0] ?? "";
  const parts: string[] = [];
  for (const part of plain.slice(start.length).split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== ".." || start === "") parts.push(part);
  }
  const end = plain.endsWith("/") && parts.length > 0 ? "/" : "";
  const root = start === "//" && !isWindows ? "/" : start;
  return `${root}${parts.join("/")}${end}`.replace(/^\/private(?=\/(?:tmp|var|etc)\/)/, "");
}
