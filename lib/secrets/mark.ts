/** What stands in place of a secret that was masked: its kind and, but for others, the mark that is the same for the same secret. */
export const marks = /\[redacted:([a-z\d][a-z\d-]{0,39})(?::([\da-f]{8}))?\]/g;
/** The longest text that `marks` matches: a kind of 40 characters and a mark. */
export const maxMarkChars = "[redacted::01234567]".length + 40;

/** What takes the place of a secret; without `mark` for others, who need not tell one secret from another. */
export const makePlaceholder = (kind: string, mark?: string): string =>
  mark === undefined ? `[redacted:${kind}]` : `[redacted:${kind}:${mark}]`;
