// SQL: Prisma can't group the elements of a list or the lines of a text.
import "server-only";
import { heavyRead } from "#lib/db/heavy";
import { Prisma } from "#lib/generated/prisma/client";
import { isSelected, type PlainSelection } from "#lib/search/sql/selection";
import type { FacetValue } from "#lib/traces/schema";

export type Several = "branch" | "tag" | "tool";

export async function countSeveral(
  userId: string,
  selection: PlainSelection,
  name: Several,
  max: number,
): Promise<FacetValue[]> {
  const values = valuesIn[name](userId, isSelected(userId, selection));
  const { rows } = await heavyRead(userId, (tx) =>
    tx.query<FacetValue>(Prisma.sql`
      select value, sum(number)::int as count from (${values}) as named
      group by value order by count desc, value limit ${max}`),
  );
  return rows;
}

/** Grouping equal lists of tools first leaves fewer to split. */
const valuesIn: Record<Several, (userId: string, isOne: Prisma.Sql) => Prisma.Sql> = {
  branch: (userId, isOne) => Prisma.sql`select branch as value, 1 as number from trace_branch
    where user_id = ${userId}::uuid and trace_id in (select id from trace where ${isOne})`,
  tag: (_, isOne) => Prisma.sql`select unnest(tags) as value, 1 as number from trace
    where ${isOne} and cardinality(tags) > 0`,
  tool: (_, isOne) => Prisma.sql`select string_to_table(trim(both E'\\n' from tools), E'\\n') as value, number
    from (select tools, count(*) as number from trace where ${isOne} and tools is not null group by tools) as same`,
};
