// Cursor names a project's transcripts after its folder.
import { basename, join, parse } from "node:path";
import { listFolder } from "../../files/discovery.ts";

const maxFolders = 100;

/** macOS asks the user before a program may look into these folders. */
const askedFor = new Set(["Desktop", "Documents", "Downloads", "Library", "Movies", "Music", "Pictures"]);

const splitName = (name: string): string[] => name.split(/[^A-Za-z0-9]+/).filter(Boolean);

/**
 * Each run of characters other than letters and digits became a hyphen: `home-ada-my-app`. Undefined if several
 * folders match.
 */
export async function findNamedFolder(name: string): Promise<string | undefined> {
  const words = splitName(name);
  const [drive = ""] = words;
  const isDrive = process.platform === "win32" && /^[a-z]$/i.test(drive);
  const search = { found: [] as string[], left: maxFolders };
  if (isDrive) await findBelow(`${drive}:\\`, words.slice(1), search);
  else if (process.platform !== "win32") await findBelow(parse(process.cwd()).root, words, search);
  return search.found.length === 1 && search.left > 0 ? search.found[0] : undefined;
}

async function findBelow(folder: string, words: string[], search: { found: string[]; left: number }): Promise<void> {
  if (words.length === 0) {
    search.found.push(folder);
    return;
  }
  if (search.left <= 0 || (process.platform === "darwin" && askedFor.has(basename(folder)))) return;
  search.left--;
  for (const entry of await listFolder(folder)) {
    const own = splitName(entry.name);
    const fits = own.length > 0 && own.every((word, index) => word === words[index]);
    if (fits && entry.isDirectory()) await findBelow(join(folder, entry.name), words.slice(own.length), search);
  }
}
