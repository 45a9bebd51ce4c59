/**
 * `file:src/x.ts`, `changed:src/x.ts` or `-file:x.ts`. `ending` begins with a slash; `name` and `ending` are in lower
 * case.
 */
export type FileTerm = { name: string; ending: string; changed: boolean; excluded: boolean; written: string };

type More = Partial<Pick<FileTerm, "changed" | "excluded" | "written">>;

/** Undefined if the path names no file. */
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
