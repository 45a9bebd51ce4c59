import { dirname, sep } from "node:path";

/** One adapter's search in a round of `watch`, which records the folders that the result depends on. */
export class Search {
  /** The changed paths; only inputs at, below or next to them are wanted. */
  readonly only: readonly string[] | undefined;
  /** Folders searched by `findFiles`: after a change, searching for the changed path is enough. */
  readonly walked = new Set<string>();
  /** Folders searched in another way: a change in one may concern any input. */
  readonly listed = new Set<string>();
  /** Single files elsewhere, existing or not, which may also concern any input. */
  readonly files = new Set<string>();
  milliseconds = 0;

  constructor(only?: readonly string[]) {
    this.only = only;
  }

  noteFile(path: string): void {
    const folder = dirname(path);
    if (!this.walked.has(folder) && !this.listed.has(folder)) this.files.add(path);
  }
}

let current: Search | undefined;

export const currentSearch = (): Search | undefined => current;

export async function* findDuring<T extends { path: string }>(
  search: Search | undefined,
  found: AsyncIterable<T>,
): AsyncGenerator<T> {
  if (!search) return yield* found;
  const items = found[Symbol.asyncIterator]();
  try {
    for (;;) {
      const startedAt = performance.now();
      current = search;
      const { value, done } = await items.next().finally(() => {
        current = undefined;
      });
      search.milliseconds += performance.now() - startedAt;
      if (done) return;
      const folder = dirname(value.path);
      if (!search.walked.has(folder)) search.listed.add(folder);
      yield value;
    }
  } finally {
    await items.return?.();
  }
}

export const isAtOrBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
