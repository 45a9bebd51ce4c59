// Anybody who knows the public key can write a head, so its paths are not trusted.
import { CommandError } from "../errors.ts";

const [maxNameBytes, maxPathChars] = [255, 4096];
/** Characters that some file system forbids, and invisible ones. */
const forbidden = /[\\:*?"<>|\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const reserved = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?:\.| |$)/i;

const isSafeName = (name: string): boolean =>
  name !== "" &&
  !/^\.{1,2}$/.test(name) &&
  !/[. ]$/.test(name) &&
  !forbidden.test(name) &&
  !reserved.test(name) &&
  Buffer.byteLength(name) <= maxNameBytes;

const isSafePath = (path: string): boolean => path.length <= maxPathChars && path.split("/").every(isSafeName);

/**
 * @throws CommandError if a path could leave the agent's folder, or two could be the same file on a file system that
 *   ignores case or Unicode normalization
 */
export function checkPaths(paths: readonly string[], isExpected: (path: string) => boolean): void {
  const known = new Set<string>();
  const folders = new Set<string>();
  for (const path of paths) {
    if (!isSafePath(path) || !isExpected(path)) throw refused(`it names a file that is none of a session: ${path}`);
    const key = toKey(path);
    if (known.has(key)) throw refused(`it names a file twice: ${path}`);
    known.add(key);
    const names = key.split("/");
    for (let count = 1; count < names.length; count++) folders.add(names.slice(0, count).join("/"));
  }
  const both = paths.find((path) => folders.has(toKey(path)));
  if (both !== undefined) throw refused(`it names a file that is a folder, too: ${both}`);
}

const toKey = (path: string): string => path.normalize("NFC").toLowerCase().toUpperCase().normalize("NFC");

const refused = (reason: string): CommandError =>
  new CommandError("failed", `The copy was not written by Spoor, and nothing was restored: ${reason}.`);
