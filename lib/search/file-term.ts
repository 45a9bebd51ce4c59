/**
 * A file that sessions touched (`file:src/x.ts`), or did not (`-file:x.ts`): its name, and the end of its path with a slash
 * before it, both in lower case. `written` is the term as it stands in the query.
 */
export type FileTerm = { name: string; ending: string; excluded: boolean; written: string };

/** A file by the end of its path, as people write it; undefined where that names none. */
export function fileNamed(path: string, excluded = false, written = path): FileTerm | undefined {
  const parts = path
    .replaceAll("\\", "/")
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  const name = parts.at(-1);
  return name === undefined ? undefined : { name, ending: `/${parts.join("/")}`, excluded, written };
}
