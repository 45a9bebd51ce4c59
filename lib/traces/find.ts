import "server-only";
import { pool } from "#lib/db/client";
import type { Matches } from "#lib/traces/schema";

/** Enough for any word worth stepping through; the counts go on behind it. */
const maxPlaces = 20_000;

/**
 * Counts where a text stands in a trace's messages, in their content and in their metadata, as it is written but for its
 * case. No index is needed: the messages of one trace lie beside each other (the figures stand in decision 13).
 * The case of letters beyond ASCII is folded where PostgreSQL brings `pg_c_utf8` (17 and later).
 *
 * @param text 1 to 512 characters; blanks count as they stand
 */
export async function findInMessages(userId: string, traceId: string, text: string): Promise<Matches> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it asks for what is not ASCII
  const folding = /^[\x00-\x7f]*$/.test(text) ? "" : await unicodeFolding();
  const { rows } = await pool().query<{ position: number; count: number; total: string; messages: string }>(
    `with wanted as (select lower($3::text${folding}) as text),
     hit as materialized (
       select position,
         (length(searched) - length(replace(searched, wanted.text, ''))) / length(wanted.text) as count
       from message cross join wanted
         cross join lateral (select lower((content || coalesce(e'\\n' || (metadata::text), ''))${folding}) as searched) s
       where user_id = $1 and trace_id = $2 and strpos(searched, wanted.text) > 0)
     select position, count::int, sum(count) over () as total, count(*) over () as messages
     from hit order by position limit ${maxPlaces}`,
    [userId, traceId, text],
  );
  const [first] = rows;
  return {
    total: Number(first?.total ?? 0),
    messages: Number(first?.messages ?? 0),
    places: rows.map(({ position, count }) => [position, count]),
  };
}

let known: Promise<string> | undefined;

/** The collation that folds every letter's case, where the server has it. */
function unicodeFolding(): Promise<string> {
  known ??= pool()
    .query(`select 1 from pg_collation where collname = 'pg_c_utf8'`)
    .then(({ rowCount }) => (rowCount ? ` collate "pg_c_utf8"` : ""));
  known.catch(() => {
    known = undefined; // the next one asks again
  });
  return known;
}
