export const quoteSh = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

export const quotePowerShell = (word: string): string => `'${word.replaceAll("'", "''")}'`;

/** `%` would begin a variable; a path can't contain quotation marks. */
export const quoteCmd = (word: string): string => `"${word.replaceAll("%", "%%")}"`;

/** `%` begins a specifier (systemd.syntax(7)). */
export const quoteUnit = (word: string): string =>
  `"${word.replaceAll(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("\n", "\\n")}"`;

/** `$` begins a variable in `ExecStart` (systemd.service(5), "Command lines"). */
export const quoteExec = (word: string): string => quoteUnit(word).replaceAll("$", "$$$$");

export const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** JSON's escapes are valid in TOML, except for DEL. */
export const quoteToml = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007F");
