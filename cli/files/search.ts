import { dirname, sep } from "node:path";

/** One adapter's search for inputs in a round of `watch`: it may be narrow, and notes which folders it depends on. */
export class Search {
  /** The changed paths, where only inputs at or below them, or beside them, are wanted. */
  readonly only: readonly string[] | undefined;
  /** Folders whose files `findFiles` matched: where one of them changes, a search for the changed path is enough. */
  readonly walked = new Set<string>();
  /** Folders that were looked at in another way: a change in one of them may concern any input. */
  readonly listed = new Set<string>();
  /** Single files elsewhere, whether they exist or not: so may a change of one of them. */
  readonly files = new Set<string>();
  milliseconds = 0;

  constructor(only?: readonly string[]) {
    this.only = only;
  }

  /** Notes that something depends on a single file. */
  noteFile(path: string): void {
    const folder = dirname(path);
    if (!this.walked.has(folder) && !this.listed.has(folder)) this.files.add(path);
  }
}

let current: Search | undefined;

/** The search that is running, for what looks at folders; none outside of `watch`. */
export const currentSearch = (): Search | undefined => current;

/** What a search finds. Only one may be running at a time. */
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

/** Whether a path is a folder's, or below it. */
export const isAtOrBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
