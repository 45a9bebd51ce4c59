/** A word of a POSIX shell's command. */
export const quoteSh = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** A word of PowerShell's command. */
export const quotePowerShell = (word: string): string => `'${word.replaceAll("'", "''")}'`;

/** A word in a batch file. `%` would begin a variable there; a path can't hold quotation marks. */
export const quoteCmd = (word: string): string => `"${word.replaceAll("%", "%%")}"`;

/** A word in a systemd unit, where `%` begins a specifier (systemd.syntax(7)). */
export const quoteUnit = (word: string): string =>
  `"${word.replaceAll(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("\n", "\\n")}"`;

/** A word of `ExecStart`, where `$` begins a variable, too (systemd.service(5), "Command lines"). */
export const quoteExec = (word: string): string => quoteUnit(word).replaceAll("$", "$$$$");

/** Text in XML. */
export const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** A TOML string. JSON's escapes are TOML's, but for DEL. */
export const quoteToml = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007F");
