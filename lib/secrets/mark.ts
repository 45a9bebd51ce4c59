/** What stands in place of a secret that was masked: its kind and, but for others, the mark that is the same for the same secret. */
export const marks = /\[redacted:([a-z\d][a-z\d-]{0,39})(?::([\da-f]{8}))?\]/g;
export const maxMarkChars = "[redacted::01234567]".length + 40;
