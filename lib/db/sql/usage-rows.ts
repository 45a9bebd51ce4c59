// SQL: columns of usage_quarter_hour, which the ledger writes from trace_usage and message_usage, and reports read.
import "server-only";

export const activity = ["messages", "tokens", "untimed", "uncounted"] as const;

export const tokenColumns = [
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_5m_tokens",
  "cache_write_1h_tokens",
  "reasoning_tokens",
] as const;

/** Output includes reasoning. The sum may exceed 32 bits. */
export const allTokens =
  "(input_tokens::bigint + output_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)";

export const spending = [
  ...tokenColumns,
  "cost_nano",
  "recorded_nano",
  "unpriced_tokens",
  "tier_not_priced_tokens",
  "compared_nano",
  "compared_recorded_nano",
] as const;

const hasBoth = "cost_nano is not null and recorded_nano is not null";
const derived: Partial<Record<(typeof spending)[number], string>> = {
  cost_nano: "coalesce(cost_nano, 0)",
  recorded_nano: "coalesce(recorded_nano, 0)",
  unpriced_tokens: `case when cost_nano is null then ${allTokens} else 0 end`,
  tier_not_priced_tokens: `case when tier_not_priced then ${allTokens} else 0 end`,
  compared_nano: `case when ${hasBoth} then cost_nano else 0 end`,
  compared_recorded_nano: `case when ${hasBoth} then recorded_nano else 0 end`,
};

/** A column's expression over a row of message_usage. */
export const spend = (name: (typeof spending)[number]): string => derived[name] ?? name;

/** Quarters of an hour are counted since 1970. */
export const messageQuarter = "floor(extract(epoch from at) / 900)::int";
export const traceQuarters = "(day - date '1970-01-01') * 96 + unnest(quarters)";
