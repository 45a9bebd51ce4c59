import "server-only";
import { eachInSlices } from "#lib/concurrency/slices";
import { heavyRead } from "#lib/db/heavy";
import { limits } from "#lib/limits";
import { getModelFamily } from "#lib/prices/model";
import { isSubAgentName } from "#lib/reader/project";
import { readProjectNames } from "#lib/usage/project-names";
import type { Figures, UsageFacet, UsageFilter, ValueFigures } from "#lib/usage/schema";
import { getBoundaries, type Span } from "#lib/usage/spans";
import { type LinkFacet, readLinks } from "#lib/usage/sql/links";
import { type Column, columns } from "#lib/usage/sql/parts";
import {
  type FacetFilter,
  type ReportRow,
  type RolledFacet,
  readGone,
  readModels,
  readReport,
  rolledFacets,
} from "#lib/usage/sql/report";

/** The usage of one value; `others` where it is the sum of values that are not shown by themselves. */
export type ValueUsage = ValueFigures & {
  /** A project's id; the names of a model with their dates. */
  id?: string;
  names?: string[];
};
type FacetUsage = { values: ValueUsage[]; others: number };

export type UsageReport = {
  /** Over all spans. `untimed` messages have no time of their own, `uncounted` ones no token count. */
  total: Figures & { untimed: number; uncounted: number };
  /** By each facet's values over all spans, the largest first; null if the client sent none. */
  byFacet: Partial<Record<UsageFacet, FacetUsage>>;
  /** By span (from 0), and by those values of the requested facet that are listed; the others are the rest of `spanTotals`. */
  bySpan: (Figures & { span: number; value: string | null; id?: string })[];
  /** The whole of each span; one without usage has none. */
  spanTotals: (Figures | undefined)[];
};

export type UsageRequest = {
  spans: Span[];
  /** The facets whose values are listed, and the one that each span is broken down by. */
  facets: readonly UsageFacet[];
  by?: UsageFacet | undefined;
  filter?: UsageFilter;
  /** The figures that are wanted of each span, and of each value beside what it is ranked by; the others may be 0. */
  wanted?: readonly Column[] | undefined;
  /** Whether to count sessions and messages by branch, which takes a read of each linked session. */
  activityOfBranches?: boolean;
};

const { maxValues } = limits.usage;
/** What pages say of each value whatever is shown. */
const withRemarks: readonly Column[] = ["unpriced_tokens", "tier_not_priced_tokens"];

/** A user's usage in spans of time. A session that is linked to two pull requests, or worked on two branches, counts at each. */
export async function readUsage(userId: string, request: UsageRequest): Promise<UsageReport> {
  const { spans, facets, by, wanted, activityOfBranches = true } = request;
  const starts = getBoundaries(spans);
  const filter = await resolveFilter(userId, request.filter ?? {});
  const shown = [...new Set([...facets, ...(by ? [by] : [])])];
  const rolled = shown.filter(isRolled);
  const links = shown.filter(
    (facet): facet is LinkFacet => facet === "pr" || (facet === "branch" && activityOfBranches),
  );
  // What links tell is put in the place of the rows' figures, all of which that takes.
  const listed = wanted && links.length === 0 ? [...wanted, ...withRemarks] : undefined;
  const { rows, linked } = await heavyRead(userId, async (tx) => {
    const gone = await readGone(tx, userId);
    const inSpans = { by: by && isRolled(by) ? by : undefined, ...(wanted && { wanted }) };
    const reported = { starts, gone, facets: rolled, maxValues, listed, filter, spans: inSpans };
    const rows = await readReport(tx, userId, reported);
    const linked = new Map<LinkFacet, ReportRow[]>();
    for (const facet of links)
      linked.set(facet, await readLinks(tx, userId, facet, { starts, gone, filter, bySpan: facet === by, maxValues }));
    return { rows, linked };
  });
  const ofSpans = Map.groupBy(rows, ({ span }) => span);
  const spanTotals = spans.map((_, place) => sumRows(ofSpans.get(place) ?? []));
  for (const [facet, found] of linked) join(rows, facet, found, wanted ?? columns);
  return { ...buildReport(await nameValues(userId, rows), shown, by), spanTotals };
}

const isRolled = (facet: UsageFacet): facet is RolledFacet => (rolledFacets as readonly string[]).includes(facet);

/** Filters as usage_facets has their values: a model's name stands for all of its dated ones. */
async function resolveFilter(userId: string, { model, ...rest }: UsageFilter): Promise<FacetFilter> {
  const filter: FacetFilter = {};
  for (const [name, value] of Object.entries(rest))
    if (value !== undefined) filter[name as keyof typeof rest] = [value];
  if (model === undefined) return filter;
  const names: string[] = [];
  const models = await heavyRead(userId, (tx) => readModels(tx, userId));
  await eachInSlices(models, (name) => {
    if (getModelFamily(name) === model) names.push(name);
  });
  return { ...filter, model: [model, ...names] };
}

const activity: readonly Column[] = ["sessions", "messages", "tokens", "untimed", "uncounted"];

/**
 * Adds what links tell to the rows of a report. What was spent on a branch is known of each message and stands in the rows; only
 * of its sessions and their messages the links know. What is linked to nothing is the rest of the whole.
 */
function join(rows: ReportRow[], facet: LinkFacet, found: ReportRow[], wanted: readonly Column[]): void {
  const shared = facet === "pr" ? columns : activity;
  if (facet === "pr") rows.push(...rows.filter((row) => row.facet === null).map((whole) => ({ ...whole, facet })));
  const getKey = (row: Pick<ReportRow, "span" | "value">) => JSON.stringify([row.span, row.value]);
  const known = new Map(rows.filter((row) => row.facet === facet).map((row) => [getKey(row), row]));
  for (const sum of found.filter((row) => row.facet === null)) {
    const rest = known.get(getKey(sum));
    const given = sum.span === null ? shared : shared.filter((name) => wanted.includes(name));
    if (rest) for (const name of given) rest[name] -= sum[name];
  }
  for (const row of found.filter((one) => one.facet !== null)) {
    const own = known.get(getKey(row)) ?? { ...row, ...zeros };
    if (!known.has(getKey(row))) rows.push(own);
    for (const name of shared) own[name] = row[name];
  }
}

/** A trace counts under one value in a span, so that its values add up, before links are looked at. */
function sumRows(rows: ReportRow[]): Figures | undefined {
  const total: Record<Column, number> = { ...zeros };
  for (const row of rows) for (const name of columns) total[name] += row[name];
  return rows.length === 0 ? undefined : toFigures(total);
}

const zeros = Object.fromEntries(columns.map((name) => [name, 0])) as Record<Column, number>;

/** Rows with projects by their names, and models without their dates. */
async function nameValues(
  userId: string,
  rows: ReportRow[],
): Promise<(ReportRow & Pick<ValueUsage, "id" | "names">)[]> {
  const projects = rows.flatMap(({ facet, value }) => (facet === "project" ? [value] : []));
  const names = await readProjectNames(userId, projects);
  return rows.map((row) => {
    if (row.value === null) return row;
    const project = row.facet === "project" ? names.get(row.value) : undefined;
    if (project !== undefined) return { ...row, id: row.value, value: project };
    if (row.facet === "project" && isSubAgentName(row.value)) return { ...row, value: null };
    return row.facet === "model" ? { ...row, value: getModelFamily(row.value), names: [row.value] } : row;
  });
}

function buildReport(
  rows: Awaited<ReturnType<typeof nameValues>>,
  facets: UsageFacet[],
  by: UsageFacet | undefined,
): Omit<UsageReport, "spanTotals"> {
  const merged = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    const key = JSON.stringify([row.span, row.facet, row.value, row.id]);
    const known = merged.get(key);
    if (!known) merged.set(key, { ...row });
    else {
      for (const name of columns) known[name] += row[name];
      known.names = [...(known.names ?? []), ...(row.names ?? [])];
    }
  }
  const all = [...merged.values()];
  const whole = all.find(({ span, facet }) => span === null && facet === null);
  const byFacet = facets.map((facet) => {
    const own = all.filter((row) => row.span === null && row.facet === facet);
    const found = rows.filter((row) => row.span === null && row.facet === facet);
    const values = own.filter(isUsed).map((row): ValueUsage => {
      const { value, id, names } = row;
      return { value, ...toFigures(row), ...(id && { id }), ...(names && { names }) };
    });
    return [facet, { values, others: Math.max(0, (found[0]?.values ?? 0) - found.length) }];
  });
  return {
    total: { ...toFigures(whole), untimed: whole?.untimed ?? 0, uncounted: whole?.uncounted ?? 0 },
    byFacet: Object.fromEntries(byFacet),
    // A pull request's rows stand beside the whole of each span, which is no row of theirs.
    bySpan: all.flatMap(({ span, value, id, ...row }) =>
      span === null || row.facet !== (by ?? null) || !isUsed(row)
        ? []
        : [{ span, value, ...(id && { id }), ...toFigures(row) }],
    ),
  };
}

const isUsed = (row: Record<Column, number>) => columns.some((name) => row[name] !== 0);

/** Sums over no rows are null. */
const toFigures = (row: Record<Column, number> | undefined): Figures => ({
  costNano: row?.cost_nano ?? 0,
  recordedNano: row?.recorded_nano ?? 0,
  compared: { costNano: row?.compared_nano ?? 0, recordedNano: row?.compared_recorded_nano ?? 0 },
  inputTokens: row?.input_tokens ?? 0,
  outputTokens: row?.output_tokens ?? 0,
  cacheReadTokens: row?.cache_read_tokens ?? 0,
  cacheWrite5mTokens: row?.cache_write_5m_tokens ?? 0,
  cacheWrite1hTokens: row?.cache_write_1h_tokens ?? 0,
  reasoningTokens: row?.reasoning_tokens ?? 0,
  unpricedTokens: row?.unpriced_tokens ?? 0,
  tierNotPricedTokens: row?.tier_not_priced_tokens ?? 0,
  tokenCount: row?.tokens ?? 0,
  messages: row?.messages ?? 0,
  sessions: row?.sessions ?? 0,
});
