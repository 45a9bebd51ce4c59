import "server-only";
import type { Matches } from "#lib/traces/schema";
import { canFoldUnicode, findText } from "#lib/traces/sql/messages";

/** More places than anyone steps through; the counts include further ones. */
const maxPlaces = 20_000;

/**
 * Counts the matches of a text in the messages of a trace, in content and metadata, as it is written but for its case; nowhere in
 * a deleted one. The case of letters beyond ASCII is folded by PostgreSQL 17 and later.
 *
 * @param text 1 to 512 characters; blanks are significant
 */
export async function findInMessages(userId: string, traceId: string, text: string): Promise<Matches> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it asks for what is not ASCII
  const isAscii = /^[\x00-\x7f]*$/.test(text);
  // Of C the case of ASCII is folded, whatever the database's locale, most of which take longer.
  const collation = isAscii ? "C" : (await foldsUnicodeHere()) ? "pg_c_utf8" : undefined;
  const rows = await findText(userId, traceId, text, { maxPlaces, collation });
  const [first] = rows;
  return {
    total: Number(first?.total ?? 0),
    messages: Number(first?.messages ?? 0),
    places: rows.map(({ position, count }) => [position, count]),
  };
}

let known: Promise<boolean> | undefined;

function foldsUnicodeHere(): Promise<boolean> {
  known ??= canFoldUnicode();
  known.catch(() => {
    known = undefined; // the next call asks again
  });
  return known;
}
