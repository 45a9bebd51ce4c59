/** Counts loads and changes. A commit does not end a load that began after its change. */
export function makePending() {
  let loads = 0;
  let isLoading = false;
  let changes = 0;
  let placed = 0;
  return {
    isLoading: () => isLoading,
    isIdle: () => !isLoading && isPlaced(),
    isPlaced,
    /** @returns a function that ends it; false if another load has replaced it */
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
    drop() {
      loads += 1;
      isLoading = false;
    },
    change: () => {
      changes += 1;
      return changes;
    },
    place(change: number) {
      placed = change;
    },
  };

  function isPlaced(): boolean {
    return placed === changes;
  }
}
