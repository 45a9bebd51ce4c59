import { maxRemoteChars } from "#common/evidence/remotes";
import { composePath, isWrittenByWindows, spell } from "#common/evidence/spelling";

export type SessionFolders = {
  folder?: string;
  roots: string[];
  home?: string;
  isWindows: boolean;
};

const maxCharacters = 1024;
export const maxWritten = 2 * maxCharacters;
/** The path shares a 2,704-byte index entry with the other columns of the key. */
const maxBytes = 2048;

type Fields = Record<string, unknown>;

export function readPlace(metadata: Fields | null): SessionFolders {
  const given = metadata?.cwd;
  if (typeof given !== "string" || given.length > maxCharacters) return { roots: [], isWindows: false };
  // Windows writes backslashes in WSL folders too, and WSL paths of Windows folders ignore case.
  const isWindows = isWrittenByWindows(given) || spell(given).isWindows;
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

const worktree = /^(.+?)\/\.claude\/worktrees\/([^/]+)(?=\/|$)/i;

function findCheckout(folder: string, repository: unknown): string {
  const remote = typeof repository === "string" && repository.length <= maxRemoteChars ? repository : "";
  const [, name] = /([^/:]+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  if (!name) return folder;
  const parts = folder.split("/");
  const places = parts.flatMap((part, at) => (part.toLowerCase() === name.toLowerCase() ? [at] : []));
  return places.length === 1 ? parts.slice(0, (places[0] as number) + 1).join("/") : folder;
}

/**
 * Relative to the project's root if it is inside, else absolute.
 * @param folder base of relative paths, if not the session's folder
 * @returns undefined if it names no file or is too long
 */
export function projectPath(written: string, place: SessionFolders, folder?: string): string | undefined {
  if (written.length > maxWritten) return undefined;
  const path = absolute(unquoted(written), place, folder);
  if (path === undefined || path === place.folder || place.roots.includes(path)) return undefined;
  const found = relative(path, place);
  if (found.length > maxCharacters || Buffer.byteLength(found) > maxBytes) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: PostgreSQL's texts have no NUL, and no file's name has a newline
  if (/[\x00-\x1f\x7f]/.test(found) || !found.isWellFormed()) return undefined;
  return /(?:^|\/)(?:|\.|\.\.|~)$|^[A-Za-z]:$/.test(found) ? undefined : found;
}

export function shortPath(written: string, place: SessionFolders): string {
  const path = projectPath(written, place) ?? written;
  return path.replace(/^(?:\/(?:Users|home)\/[^/]+|\/root)(?=\/.)/, "~");
}

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

function absolute(path: string, place: SessionFolders, folder: string | undefined): string | undefined {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return undefined;
  const isWindows = place.isWindows || isWrittenByWindows(path);
  const clean = tidy(path, isWindows);
  if (clean.startsWith("~/")) return place.home ? tidy(place.home + clean.slice(1), isWindows) : clean;
  if (isAbsolute(clean)) return clean;
  const base = folder === undefined ? place.folder : absolute(folder, place, undefined);
  return base === undefined ? clean : tidy(`${base}/${clean}`, isWindows);
}

function relative(path: string, { roots, isWindows }: SessionFolders): string {
  const folded = (text: string) => (isWindows ? text.toLowerCase() : text);
  for (const root of roots) {
    const start = root === "/" ? root : `${root}/`;
    if (!folded(path).startsWith(folded(start))) continue;
    return path.slice(start.length).replace(/^\.claude\/worktrees\/[^/]+\/(?=.)/i, "");
  }
  return path;
}

const isAbsolute = (path: string) => path.startsWith("/") || /^[A-Z]:\//.test(path);

/** Normalizes separators, `.`, `..` and `//`. On macOS `/private/tmp` and `/tmp` are the same folder. */
function tidy(path: string, isWindows: boolean): string {
  const plain = isWindows ? spell(path.replaceAll("\\", "/")).path : composePath(path);
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
