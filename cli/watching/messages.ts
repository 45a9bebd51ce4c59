/** The paths that have changed, by adapter. */
export type RoundRequest = {
  wanted: Record<string, string[] | "all"> | "all";
  isFirst: boolean;
  carried: Carried;
};

/** Passed from one sender to the next, and not stored, because another run tries again. */
export type Carried = {
  unsendable: [string, string][];
  /** Invalid entries already reported, because a growing file is read repeatedly. */
  reported: string[];
};

export type LookedAt = {
  isWhole: boolean;
  walked: string[];
  listed: string[];
  files: string[];
  milliseconds: number;
};

export type RoundReport = {
  lookedAt: Record<string, LookedAt>;
  milliseconds: number;
  hasSent: boolean;
  carried: Carried;
};
