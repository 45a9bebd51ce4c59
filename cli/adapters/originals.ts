export type Older<Key> = { sourceId: string; has(key: Key): boolean };

/** An entry is a copy only if an older session has it, and is counted there. */
export class Originals<Key> {
  readonly #older: { session: Older<Key>; copied: number }[];

  /** @param older the oldest first */
  constructor(older: readonly Older<Key>[]) {
    this.#older = older.map((session) => ({ session, copied: 0 }));
  }

  get isEmpty(): boolean {
    return this.#older.length === 0;
  }

  recognize(...keys: (Key | undefined)[]): boolean {
    let isCopy = false;
    for (const one of this.#older) {
      if (!keys.some((key) => key !== undefined && one.session.has(key))) continue;
      one.copied++;
      isCopy = true;
    }
    return isCopy;
  }

  /** The session that most was copied from, the oldest of several. */
  get nearest(): string | undefined {
    let [nearest, most]: [string | undefined, number] = [undefined, 0];
    for (const { session, copied } of this.#older) if (copied > most) [nearest, most] = [session.sourceId, copied];
    return nearest;
  }
}
