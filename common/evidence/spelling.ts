/** Case does not count if `isWindows`. */
export type Spelling = { path: string; isWindows: boolean };

/** The system on which the session ran decides, not the one that reads it. */
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
export function spell(written: string): Spelling {
  const isWritten = isWrittenByWindows(written);
  const path = withDrive(inWsl(withoutPrefix(isWritten ? written.replaceAll("\\", "/") : written)));
  return { path: composePath(path), isWindows: isWritten ? /^(?:[A-Z]:|\/\/)/.test(path) : /^[A-Z]:/.test(path) };
}

/** PATH_MAX of Linux, in characters. */
const maxPath = 4096;

/** Composes characters, except in longer text: composing is quadratic in the number of consecutive accents. */
export const composePath = (path: string): string => (path.length > maxPath ? path : path.normalize("NFC"));

export function foldedPath({ path, isWindows }: Spelling): string {
  return isWindows ? path.slice(0, 1) + path.slice(1).toLowerCase() : path;
}

export const folderKey = (written: string): string => foldedPath(spell(written)).replace(/(?<=[^/:])\/+$/, "");

/** `\\?\` and `\\.\` only turn off Windows' own rules for paths. */
const withoutPrefix = (path: string): string =>
  path.replace(/^\/\/[?.]\/(?:UNC\/)?/i, (prefix) => (prefix.length > 4 ? "//" : ""));

const inWsl = (path: string): string => path.replace(/^\/\/wsl(?:\.localhost|\$)\/[^/]+(?=\/|$)/i, "");

export const withDrive = (path: string): string =>
  path
    .replace(/^\/(?:mnt\/|cygdrive\/)?([a-z])\/(?=[^/])/, "$1:/")
    .replace(/^\/*(?=[a-z]:(?:\/|$))/i, "")
    .replace(/^[a-z]:/, (drive) => drive.toUpperCase());
