/** `RegExp.escape` is missing in Node 20 and 22. */
export const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
