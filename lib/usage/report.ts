import "server-only";
import { eachInSlices } from "#lib/core/concurrency/slices";
import { limits } from "#lib/core/limits";
import { heavyRead } from "#lib/db/heavy";
import { getModelFamily } from "#lib/prices/model";
import { isSubAgentName } from "#lib/transcript/project";
import { readProjectNames } from "#lib/usage/queries";
import type { Figures, UsageFacet, UsageFilter, ValueFigures } from "#lib/usage/schema";
import { getBoundaries, type Span } from "#lib/usage/spans";
import { type LinkFacet, readLinks } from "#lib/usage/sql/links";
import { type Column, columns, readGone } from "#lib/usage/sql/quarters";
import {
  type FacetFilter,
  type ReportRow,
  type RolledFacet,
  readModels,
  readReport,
  rolledFacets,
} from "#lib/usage/sql/report";

export type ValueUsage = ValueFigures & {
  /** A project's id, or a model's dated names. */
  id?: string;
  names?: string[];
};
type FacetUsage = { values: ValueUsage[]; others: number };

export type UsageReport = {
  /** `untimed` messages have no time of their own, `uncounted` ones no token count. */
  total: Figures & { untimed: number; uncounted: number };
  /** Largest first; null if the client sent no value. */
  byFacet: Partial<Record<UsageFacet, FacetUsage>>;
  /** Spans count from 0. Values that are not listed are the remainder of `spanTotals`. */
  bySpan: (Figures & { span: number; value: string | null; id?: string })[];
  spanTotals: (Figures | undefined)[];
};

export type UsageRequest = {
  spans: Span[];
  facets: readonly UsageFacet[];
  by?: UsageFacet | undefined;
  filter?: UsageFilter;
  /** Also count sessions and messages by branch, which reads each linked session. */
  activityOfBranches?: boolean;
};

const { maxValues } = limits.usage;

/** A session with several pull requests or branches counts at each. */
export async function readUsage(userId: string, request: UsageRequest): Promise<UsageReport> {
  const { spans, facets, by, activityOfBranches = true } = request;
  const starts = getBoundaries(spans);
  const filter = await resolveFilter(userId, request.filter ?? {});
  const shown = [...new Set([...facets, ...(by ? [by] : [])])];
  const rolled = shown.filter(isRolled);
  const links = shown.filter(
    (facet): facet is LinkFacet => facet === "pr" || (facet === "branch" && activityOfBranches),
  );
  const { rows, linked } = await heavyRead(userId, async (tx) => {
    const gone = await readGone(tx, userId);
    const inSpans = { by: by && isRolled(by) ? by : undefined };
    const reported = { starts, gone, facets: rolled, maxValues, filter, spans: inSpans };
    const rows = await readReport(tx, userId, reported);
    const linked = new Map<LinkFacet, ReportRow[]>();
    for (const facet of links)
      linked.set(facet, await readLinks(tx, userId, facet, { starts, gone, filter, bySpan: facet === by, maxValues }));
    return { rows, linked };
  });
  const ofSpans = Map.groupBy(rows, ({ span }) => span);
  const spanTotals = spans.map((_, place) => sumRows(ofSpans.get(place) ?? []));
  for (const [facet, found] of linked) join(rows, facet, found);
  return { ...buildReport(await nameValues(userId, rows), shown, by), spanTotals };
}

const isRolled = (facet: UsageFacet): facet is RolledFacet => (rolledFacets as readonly string[]).includes(facet);

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

/** Only sessions and messages of branches come from links, since the rows have the spending. */
function join(rows: ReportRow[], facet: LinkFacet, found: ReportRow[]): void {
  const shared = facet === "pr" ? columns : activity;
  if (facet === "pr") rows.push(...rows.filter((row) => row.facet === null).map((whole) => ({ ...whole, facet })));
  const getKey = (row: Pick<ReportRow, "span" | "value">) => JSON.stringify([row.span, row.value]);
  const known = new Map(rows.filter((row) => row.facet === facet).map((row) => [getKey(row), row]));
  for (const sum of found.filter((row) => row.facet === null)) {
    const rest = known.get(getKey(sum));
    if (rest) for (const name of shared) rest[name] -= sum[name];
  }
  for (const row of found.filter((one) => one.facet !== null)) {
    const own = known.get(getKey(row)) ?? { ...row, ...zeros };
    if (!known.has(getKey(row))) rows.push(own);
    for (const name of shared) own[name] = row[name];
  }
}

/** Before links are added, each trace counts under one value, so the values of a span add up. */
function sumRows(rows: ReportRow[]): Figures | undefined {
  const total: Record<Column, number> = { ...zeros };
  for (const row of rows) for (const name of columns) total[name] += row[name];
  return rows.length === 0 ? undefined : toFigures(total);
}

const zeros = Object.fromEntries(columns.map((name) => [name, 0])) as Record<Column, number>;

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
    // Rows of a pull request are listed in addition to the span's total.
    bySpan: all.flatMap(({ span, value, id, ...row }) =>
      span === null || row.facet !== (by ?? null) || !isUsed(row)
        ? []
        : [{ span, value, ...(id && { id }), ...toFigures(row) }],
    ),
  };
}

const isUsed = (row: Record<Column, number>) => columns.some((name) => row[name] !== 0);

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
