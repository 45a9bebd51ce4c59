// One spelling for all the ways in which systems and shells write a folder's path.

/** A path with `/` between its parts, a drive as `C:/` and composed characters; `isWindows` says that case does not count in it. */
export type Spelling = { path: string; isWindows: boolean };

/** Whether a path is written as Windows does: on which system a session was held, and not on which it is read, decides that. */
export const isWrittenByWindows = (path: string): boolean => /^(?:[a-z]:(?:[\\/]|$)|\\\\[^\\])/i.test(path);

/**
 * The spelling of a path. The same folder has one:
 *
 * - as Windows and its long paths write it: `c:\code`, `C:/code`, `\\?\C:\code`, `/c:/code`
 * - as WSL, Git Bash and Cygwin do: `/mnt/c/code`, `/c/code`, `/cygdrive/c/code`
 * - a folder in WSL as Windows does: `\\wsl.localhost\Debian\home\ada` for `/home/ada`, since WSL's own paths name no distribution
 *
 * Nothing is said of `.`, `..` and repeated slashes.
 */
export function spellingOf(written: string): Spelling {
  const isWritten = isWrittenByWindows(written);
  const path = withDrive(inWsl(withoutPrefix(isWritten ? written.replaceAll("\\", "/") : written)));
  return { path: composePath(path), isWindows: isWritten ? /^(?:[A-Z]:|\/\/)/.test(path) : /^[A-Z]:/.test(path) };
}

/** The longest path of any system (PATH_MAX of Linux), in characters. */
const maxPath = 4096;

/** Composes the characters of a path. A longer text stays as it is: composing is quadratic in the number of accents in a row. */
export const composePath = (path: string): string => (path.length > maxPath ? path : path.normalize("NFC"));

/** A path by which a folder is recognized: where case does not count, all but the drive is in lower case. */
export function foldedPath({ path, isWindows }: Spelling): string {
  return isWindows ? path.slice(0, 1) + path.slice(1).toLowerCase() : path;
}

/** What two paths of the same folder have in common. */
export const folderKey = (written: string): string => foldedPath(spellingOf(written)).replace(/(?<=[^/:])\/+$/, "");

/** `\\?\` and `\\.\` only turn off Windows' own rules for paths. */
const withoutPrefix = (path: string): string =>
  path.replace(/^\/\/[?.]\/(?:UNC\/)?/i, (prefix) => (prefix.length > 4 ? "//" : ""));

const inWsl = (path: string): string => path.replace(/^\/\/wsl(?:\.localhost|\$)\/[^/]+(?=\/|$)/i, "");

/** A path with slashes that begins with a drive, or with what other systems have in its place, as `C:/…`. */
export const withDrive = (path: string): string =>
  path
    .replace(/^\/(?:mnt\/|cygdrive\/)?([a-z])\/(?=[^/])/, "$1:/")
    .replace(/^\/*(?=[a-z]:(?:\/|$))/i, "")
    .replace(/^[a-z]:/, (drive) => drive.toUpperCase());
