/**
 * A file that sessions touched (`file:src/x.ts`) or changed (`changed:src/x.ts`), or did not (`-file:x.ts`): its name, and the end of
 * its path with a slash before it, both in lower case. `written` is the term as it stands in the query.
 */
export type FileTerm = { name: string; ending: string; changed: boolean; excluded: boolean; written: string };

type More = Partial<Pick<FileTerm, "changed" | "excluded" | "written">>;

/** A file by the end of its path, as people write it; undefined where that names none. */
export function fileNamed(path: string, more: More = {}): FileTerm | undefined {
  const parts = path
    .replaceAll("\\", "/")
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  const name = parts.at(-1);
  if (name === undefined) return undefined;
  return { name, ending: `/${parts.join("/")}`, changed: false, excluded: false, written: path, ...more };
}
