/** The word by which a process is told to wait, once its code is loaded (held.ts). */
export const heldWord = "--held";

/** What a held process is told: variables as they become known, at last the database's, then that its schema is there. */
export type Told = { variables: Record<string, string> } | { go: true };
