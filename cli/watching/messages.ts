/** Asks for a round: by the adapters' names, the paths that have changed, or `all`. */
export type RoundRequest = {
  wanted: Record<string, string[] | "all"> | "all";
  isFirst: boolean;
  carried: Carried;
};

/** What one sender leaves to the next: it is not stored, since another run tries again. */
export type Carried = {
  unsendable: [string, string][];
  /** Invalid entries that were reported: a growing file is read again and again. */
  reported: string[];
};

/** What an adapter's search depends on. */
export type LookedAt = {
  /** Whether it looked for everything. */
  isWhole: boolean;
  walked: string[];
  listed: string[];
  files: string[];
  milliseconds: number;
};

/** The end of a round. */
export type RoundReport = {
  lookedAt: Record<string, LookedAt>;
  milliseconds: number;
  hasSent: boolean;
  carried: Carried;
};
