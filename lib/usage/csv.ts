import type { Figures, UsageResponse } from "#lib/usage/schema";

type CsvRow = Figures & { from: string; to: string; value?: string | null };

const nano = 1_000_000_000;

/** Exact, without an exponent: `12.345000001`. */
const dollars = (amount: number) => `${Math.trunc(amount / nano)}.${String(Math.abs(amount % nano)).padStart(9, "0")}`;

const columns: [string, (row: CsvRow) => string | number][] = [
  ["sessions", ({ sessions }) => sessions],
  ["messages", ({ messages }) => messages],
  ["cost_usd", ({ costNano }) => dollars(costNano)],
  ["recorded_usd", ({ recordedNano }) => dollars(recordedNano)],
  ["input_tokens", ({ inputTokens }) => inputTokens],
  ["output_tokens", ({ outputTokens }) => outputTokens],
  ["cache_read_tokens", ({ cacheReadTokens }) => cacheReadTokens],
  ["cache_write_5m_tokens", ({ cacheWrite5mTokens }) => cacheWrite5mTokens],
  ["cache_write_1h_tokens", ({ cacheWrite1hTokens }) => cacheWrite1hTokens],
  ["reasoning_tokens", ({ reasoningTokens }) => reasoningTokens],
  ["unpriced_tokens", ({ unpricedTokens }) => unpricedTokens],
  ["tier_not_priced_tokens", ({ tierNotPricedTokens }) => tierNotPricedTokens],
  ["token_count", ({ tokenCount }) => tokenCount],
];

/** RFC 4180. */
export function formatCsv({ by, spans }: UsageResponse): string {
  const rows = spans.flatMap(({ values, ...span }): CsvRow[] =>
    values ? values.map((figures) => ({ ...figures, from: span.from, to: span.to })) : [span],
  );
  const head = ["from", "to", ...(by ? [by] : []), ...columns.map(([name]) => name)];
  const lines = rows.map((row) =>
    [row.from, row.to, ...(by ? [row.value ?? ""] : []), ...columns.map(([, read]) => read(row))].map(cell).join(","),
  );
  return [head.join(","), ...lines, ""].join("\r\n");
}

/** An apostrophe turns a text that a spreadsheet would treat as a formula into plain text (OWASP, CSV Injection). */
function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
