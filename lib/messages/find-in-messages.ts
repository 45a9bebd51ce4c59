import "server-only";
import type { Matches } from "#lib/messages/schema";
import { canFoldUnicode, findText } from "#lib/messages/sql";

const maxPlaces = 20_000;

/**
 * Counts literal matches in content and metadata, ignoring case (beyond ASCII only with PostgreSQL 17 or later).
 * @param text 1 to 512 characters; blanks are significant
 */
export async function findInMessages(userId: string, traceId: string, text: string): Promise<Matches> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it asks for what is not ASCII
  const isAscii = /^[\x00-\x7f]*$/.test(text);
  // C folds ASCII only, and is faster than most database locales.
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
