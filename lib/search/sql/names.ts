// SQL: a condition on an expression, over the list's first rows.
import "server-only";
import { requestSignal } from "#lib/core/current-request";
import { snapshot } from "#lib/db/client";
import { heavyTurn } from "#lib/db/heavy";
import { Prisma } from "#lib/generated/prisma/client";
import { allTitles, listOrder, selectMoment, shownTitle } from "#lib/search/sql/selection";

type NameRow = {
  id: string;
  title: string | null;
  source: string;
  project: string | null;
  updatedAt: Date;
};

const families = { families: true } as const;
const seconds = 2;

/**
 * Roots only, newest first.
 * @param bounds rows examined and returned
 */
export async function readByTitle(
  userId: string,
  words: string[],
  bounds: { looked: number; found: number },
): Promise<NameRow[]> {
  const patterns = words.map((word) => `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`);
  const statement = Prisma.sql`
    select id, title, source, project, greatest(moment, case when not dated then stored_at end) as "updatedAt" from (
      select id, ${shownTitle} as title, ${allTitles} as titles, source, project_id, project, dated, stored_at, ${selectMoment(families)} as moment from trace
      where user_id = ${userId}::uuid and deleted_at is null and parent_id is null
      ${listOrder(families)} limit ${words.length > 0 ? bounds.looked : bounds.found}
    ) as latest
    where titles ilike all(${patterns}::text[]) or ${words.length}::int = 0
    order by moment desc, id desc limit ${bounds.found}`;
  // Use the order's index instead of sorting, as the list does.
  const settings = { statement_timeout: `${seconds}s`, random_page_cost: "1.1" } as const;
  return heavyTurn(userId, () =>
    snapshot(async (tx) => (await tx.query<NameRow>(statement)).rows, settings, requestSignal()),
  );
}
