const none = "/dev/null";

/** Formats a file's hunks as a unified diff that names it. @param before undefined for a new file @param after for a deleted one */
export const formatFilePatch = (before: string | undefined, after: string | undefined, hunks: string): string =>
  `--- ${before ?? none}\n+++ ${after ?? none}\n${hunks}`;
