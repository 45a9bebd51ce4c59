/** What is on its way to the page: one load that counts, and changes until they are on the page. */
export type Pending = ReturnType<typeof makePending>;

/**
 * Counts loads and changes, so that the page is asked for its next step only when nothing is on its way. A commit of the page
 * does not end what began after the change that it brought.
 */
export function makePending() {
  let loads = 0;
  let isLoading = false;
  let changes = 0;
  let placed = 0;
  return {
    isLoading: () => isLoading,
    isIdle: () => !isLoading && isPlaced(),
    isPlaced,
    /** Begins a load, instead of one in flight. @returns asks, and ends it: false where another one has taken its place */
    begin() {
      loads += 1;
      isLoading = true;
      const own = loads;
      return () => {
        if (own !== loads) return false;
        isLoading = false;
        return true;
      };
    },
    /** Forgets the load in flight: what it brings is dropped. */
    drop() {
      loads += 1;
      isLoading = false;
    },
    /** A change is on its way to the page. @returns its number, for `place` */
    change: () => {
      changes += 1;
      return changes;
    },
    /** The page shows all changes up to this number. */
    place(change: number) {
      placed = change;
    },
  };

  /** Whether all changes are on the page. */
  function isPlaced(): boolean {
    return placed === changes;
  }
}
