import type { ColumnsByTrace, DerivedColumns } from "#lib/ledger/part";
import type { ColumnValues } from "#lib/ledger/sql/due";

export type ColumnsToSet = ColumnsByTrace;

const columns: { [Name in keyof DerivedColumns]: { name: string; type: string } } = {
  inputTokens: { name: "input_tokens", type: "bigint" },
  outputTokens: { name: "output_tokens", type: "bigint" },
  cacheReadTokens: { name: "cache_read_tokens", type: "bigint" },
  cacheWrite5mTokens: { name: "cache_write_5m_tokens", type: "bigint" },
  cacheWrite1hTokens: { name: "cache_write_1h_tokens", type: "bigint" },
  reasoningTokens: { name: "reasoning_tokens", type: "bigint" },
  unpricedTokens: { name: "unpriced_tokens", type: "bigint" },
  tierNotPricedTokens: { name: "tier_not_priced_tokens", type: "bigint" },
  costNano: { name: "cost_nano", type: "bigint" },
  recordedNano: { name: "recorded_nano", type: "bigint" },
  parentSourceId: { name: "parent_source_id", type: "text" },
  parentRelation: { name: "parent_relation", type: "text" },
  parentId: { name: "parent_id", type: "uuid" },
  parentPosition: { name: "parent_position", type: "int" },
  continuedIn: { name: "continued_in", type: "text" },
  childrenAt: { name: "children_at", type: "timestamptz" },
  projectId: { name: "project_id", type: "uuid" },
  filesChanged: { name: "files_changed", type: "int" },
  linesAdded: { name: "lines_added", type: "int" },
  linesRemoved: { name: "lines_removed", type: "int" },
  derivedTitle: { name: "derived_title", type: "text" },
  titleRank: { name: "title_rank", type: "int2" },
  shortTitle: { name: "short_title", type: "text" },
  turnCount: { name: "turn_count", type: "int" },
  callCount: { name: "call_count", type: "int" },
  errorCount: { name: "error_count", type: "int" },
  activeSeconds: { name: "active_seconds", type: "int" },
  dated: { name: "dated", type: "bool" },
  activityAt: { name: "activity_at", type: "timestamptz" },
  tools: { name: "tools", type: "text" },
  spark: { name: "spark", type: "text" },
  trivial: { name: "trivial", type: "bool" },
  ledgerDue: { name: "ledger_due", type: "bool" },
};
const names = Object.keys(columns) as (keyof DerivedColumns)[];

export function joinColumns(all: ColumnsByTrace, more: ColumnsByTrace): void {
  for (const [id, set] of more) all.set(id, { ...all.get(id), ...set });
}

/** Groups traces with equal columns, so that each group is one statement. */
export function columnValues(traces: [string, Partial<DerivedColumns>][]): { ids: string[]; values: ColumnValues[] }[] {
  const setIn = (set: Partial<DerivedColumns>) => names.filter((name) => set[name] !== undefined);
  const groups = Map.groupBy(traces, ([, set]) => setIn(set).join());
  return [...groups.values()].map((group) => ({
    ids: group.map(([id]) => id),
    values: setIn(group[0]?.[1] ?? {}).map((name) => ({
      ...columns[name],
      values: group.map(([, set]) => set[name]),
    })),
  }));
}
