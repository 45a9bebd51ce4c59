// SQL: its plans are chosen and measured (docs/decisions/0014).
import "server-only";
import type pg from "pg";
import type { Facet } from "#lib/core/fields";
import { pool, snapshot } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import { labelText, readProjectLabels } from "#lib/db/sql/project-labels";
import { Prisma, type Trace } from "#lib/generated/prisma/client";
import {
  comesAfter,
  comesBefore,
  isSelected,
  type ListPlace,
  listOrder,
  type PlainSelection,
  selectMoment,
  shownTitle,
} from "#lib/search/sql/selection";
import type { FacetValue, ProjectValue } from "#lib/traces/schema";

export const traceFields = {
  id: true,
  source: true,
  sourceId: true,
  model: true,
  title: true,
  derivedTitle: true,
  shortTitle: true,
  project: true,
  createdAt: true,
  activityAt: true,
  storedAt: true,
  dated: true,
  messageCount: true,
  tokenCount: true,
  sanitized: true,
  metadata: true,
  inputTokens: true,
  outputTokens: true,
  cacheReadTokens: true,
  cacheWrite5mTokens: true,
  cacheWrite1hTokens: true,
  reasoningTokens: true,
  unpricedTokens: true,
  tierNotPricedTokens: true,
  costNano: true,
  recordedNano: true,
  parentId: true,
  parentRelation: true,
  projectId: true,
  filesChanged: true,
  linesAdded: true,
  linesRemoved: true,
  machine: true,
  turnCount: true,
  callCount: true,
  errorCount: true,
  activeSeconds: true,
  spark: true,
  trivial: true,
  customTitle: true,
  starredAt: true,
  archivedAt: true,
  note: true,
  tags: true,
} satisfies Prisma.TraceSelect;

type Fields = Pick<Trace, keyof typeof traceFields>;

/** `pg` returns a bigint as text, Prisma as a bigint. */
export type TraceRow = {
  [Name in keyof Fields]: bigint extends Fields[Name] ? Fields[Name] | string : Fields[Name];
};

export type ListedRow = TraceRow & { latestAt: Date };

export const listedColumns =
  Prisma.raw(`id, source, source_id as "sourceId", model, title, derived_title as "derivedTitle",
  short_title as "shortTitle", project,
  created_at as "createdAt", activity_at as "activityAt", stored_at as "storedAt", dated, message_count as "messageCount", token_count as "tokenCount",
  sanitized, metadata, input_tokens as "inputTokens", output_tokens as "outputTokens", cache_read_tokens as "cacheReadTokens",
  cache_write_5m_tokens as "cacheWrite5mTokens", cache_write_1h_tokens as "cacheWrite1hTokens",
  reasoning_tokens as "reasoningTokens", unpriced_tokens as "unpricedTokens", tier_not_priced_tokens as "tierNotPricedTokens", cost_nano as "costNano",
  recorded_nano as "recordedNano", parent_id as "parentId", parent_relation as "parentRelation",
  project_id as "projectId", files_changed as "filesChanged", lines_added as "linesAdded", lines_removed as "linesRemoved",
  machine, turn_count as "turnCount", call_count as "callCount", error_count as "errorCount",
  active_seconds as "activeSeconds", spark, trivial, custom_title as "customTitle", starred_at as "starredAt", archived_at as "archivedAt", note, tags`);

/** PostgreSQL treats a facet's two conditions as independent and would read and sort the whole table. */
function queryInOrder<R extends pg.QueryResultRow>(
  { ids }: PlainSelection,
  statement: Prisma.Sql,
): Promise<pg.QueryResult<R>> {
  if (ids) return pool().query<R>(statement);
  return snapshot((tx) => tx.query<R>(statement), { random_page_cost: "1.1" });
}

type ListPage = { after?: ListPlace | undefined; limit: number };

/** SQL: Prisma writes the position as an `or`, which no index answers. */
export async function readRows(userId: string, selection: PlainSelection, page: ListPage): Promise<ListedRow[]> {
  return (await queryInOrder<ListedRow>(selection, selectPage(userId, selection, page))).rows;
}

/** @returns whether the page ended early */
export async function readBoundedRows(
  userId: string,
  selection: PlainSelection,
  page: ListPage & { maxBytes: number },
): Promise<{ rows: ListedRow[]; isCut: boolean }> {
  const { rows } = await queryInOrder<ListedRow & { found: string; before: string }>(
    selection,
    Prisma.sql`select * from (
        select page.*, count(*) over () as found,
          coalesce(sum(octet_length(metadata::text)) over (order by "latestAt" desc, id desc
            rows between unbounded preceding and 1 preceding), 0) as before
        from (${selectPage(userId, selection, page)}) page) measured
      where before < ${page.maxBytes} order by "latestAt" desc, id desc`,
  );
  const found = Number(rows[0]?.found ?? 0);
  return { rows: rows.map(({ found: _, before: __, ...row }) => row), isCut: rows.length < found };
}

function selectPage(userId: string, selection: PlainSelection, { after, limit }: ListPage): Prisma.Sql {
  const rest = after ? Prisma.sql`and ${comesAfter(selection, after)}` : Prisma.empty;
  return Prisma.sql`select ${listedColumns}, ${selectMoment(selection)} as "latestAt" from trace
    where ${isSelected(userId, selection)} ${rest} ${listOrder(selection)} limit ${limit}`;
}

/** Counts up to `max`, optionally only before a place. SQL: in the list's order the index alone is enough. */
export async function countUpTo(
  userId: string,
  selection: PlainSelection,
  max: number,
  before?: ListPlace,
): Promise<number> {
  const rest = before ? Prisma.sql`and ${comesBefore(userId, selection, before)}` : Prisma.empty;
  // Hits of a search would have to be sorted, and an expression's index alone is enough only without its order.
  const isUnordered = selection.ids !== undefined || (selection.families && !before);
  const order = isUnordered ? Prisma.empty : listOrder(selection);
  const { rows } = await queryInOrder<{ count: number }>(
    selection,
    Prisma.sql`select count(*)::int as count from (
      select 1 from trace where ${isSelected(userId, selection)} ${rest} ${order} limit ${max}) as matching`,
  );
  return rows[0]?.count ?? 0;
}

/** SQL: with `trivial` as a parameter, as Prisma writes it, PostgreSQL would not use the index `trace_put_away`. */
export async function countPutAway(
  userId: string,
  selection: Pick<PlainSelection, "families">,
  max: number,
): Promise<number> {
  const { rows } = await pool().query<{ count: number }>(
    Prisma.sql`select count(*)::int as count from (
      select 1 from trace where ${isSelected(userId, selection)} and (trivial or archived_at is not null) limit ${max}
    ) as matching`,
  );
  return rows[0]?.count ?? 0;
}

/** SQL: grouping sets read the rows once for all facets. */
export async function countValues(
  userId: string,
  selection: PlainSelection,
  names: Facet[],
  max: number,
): Promise<Partial<Record<Facet, FacetValue[]>>> {
  const list = Prisma.raw(names.join(", "));
  const sets = Prisma.raw(names.map((name) => `(${name})`).join(", "));
  const statement = Prisma.sql`
    select set, value, count from (
      select grouping(${list}) as set, coalesce(${list}) as value, count(*)::int as count,
        row_number() over (partition by grouping(${list}) order by count(*) desc, coalesce(${list})) as place
      from trace where ${isSelected(userId, selection)}
      group by grouping sets (${sets}) having coalesce(${list}) is not null
    ) as counted where place <= ${max} order by set, place`;
  const { rows } = await heavyRead(userId, (tx) => tx.query<FacetValue & { set: number }>(statement));
  // `grouping` has a bit per column, the first one highest; 0 if the column is grouped by.
  const groupingMask = (at: number) => 2 ** names.length - 1 - 2 ** (names.length - 1 - at);
  return Object.fromEntries(
    names.map((name, at) => [
      name,
      rows.filter(({ set }) => set === groupingMask(at)).map(({ value, count }) => ({ value, count })),
    ]),
  );
}

/** SQL: names are distinguished from equal ones. */
export async function countProjects(userId: string, selection: PlainSelection, max: number): Promise<ProjectValue[]> {
  const statement = Prisma.sql`
    select project_id as value, count(*)::int as count from trace
    where ${isSelected(userId, selection)} and project_id is not null
    group by project_id order by count desc, project_id limit ${max}`;
  return heavyRead(userId, async (tx) => {
    const { rows } = await tx.query<FacetValue>(statement);
    const labels = await readProjectLabels(
      tx,
      userId,
      rows.map(({ value }) => value),
    );
    return rows.flatMap(({ value, count }) => {
      const label = labels.get(value);
      return label ? [{ value, count, name: labelText(label) }] : [];
    });
  });
}

export type Neighbour = Pick<Trace, "id" | "title">;

/** None next to a deleted trace. SQL: a row comparison, which the index answers. */
export async function readNeighbour(
  userId: string,
  traceId: string,
  selection: PlainSelection,
  side: "newer" | "older",
): Promise<Neighbour | undefined> {
  const comparison = Prisma.raw(side === "newer" ? ">" : "<");
  const direction = Prisma.raw(side === "newer" ? "asc" : "desc");
  const moment = selectMoment(selection);
  const { rows } = await pool().query<Neighbour>(Prisma.sql`
    select id, ${shownTitle} as title from trace
    where ${isSelected(userId, selection)} and (${moment}, id) ${comparison}
      (select ${moment}, id from trace where user_id = ${userId} and id = ${traceId} and deleted_at is null)
    order by ${moment} ${direction}, id ${direction} limit 1`);
  return rows[0];
}

export type Several = "branch" | "tag" | "tool";

/** SQL: Prisma can't group the elements of a list or the lines of a text. */
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
