import { z } from "zod";
import type { Operation } from "#lib/http/operation";
import { type Figures, usageQuery, usageResponse } from "#lib/usage/schema";

const figures: Figures = {
  costNano: 41_870_500,
  recordedNano: 0,
  compared: { costNano: 0, recordedNano: 0 },
  inputTokens: 1200,
  outputTokens: 840,
  cacheReadTokens: 38_200,
  cacheWrite5mTokens: 2100,
  cacheWrite1hTokens: 0,
  reasoningTokens: 310,
  unpricedTokens: 0,
  tierNotPricedTokens: 0,
  tokenCount: 840,
  messages: 24,
  sessions: 1,
};
const day = {
  from: "2026-11-20",
  to: "2026-11-20",
  start: "2026-11-19T23:00:00.000Z",
  end: "2026-11-20T23:00:00.000Z",
};
const model = { value: "claude-opus-4-5", ...figures };

const errors = {
  invalid_request:
    "A parameter is not valid; the range is empty or longer than 1,100 days; or it has more than 400 spans of the unit.",
};
const example = { query: { from: "2026-11-20", to: "2026-11-20", zone: "Europe/Berlin", by: "model" } };
const wrong = { query: { from: "yesterday", zone: "Mars/Olympus", unit: "hour" } };

export const readUsageReport = {
  methods: ["GET"],
  path: "/api/usage",
  auth: "cookie-or-bearer",
  scope: "read",
  query: usageQuery,
  response: usageResponse,
  about: {
    group: "Usage",
    summary: "Get usage and its cost",
    text: "Usage and cost of messages in total and by `unit`; `by` splits each by a facet. `from` and `to` are days in `zone`, both inclusive, or moments (`from` inclusive, `to` exclusive; widened to whole quarters of an hour); by default the last 30 days. Money is in nano-dollars, at the prices of each message's day. `recordedNano` is the cost recorded by agents, and `compared` has both sums over messages with both. `unpricedTokens` (models without a price) cost nothing here; `tierNotPricedTokens` (service tiers without a price) cost the standard price. `inputTokens` excludes tokens read from or written to a cache; `outputTokens` includes `reasoningTokens`; `tokenCount` is the sum of messages' own counts. A session counts once in each span in which it has a message, and once in the total; with several branches or pull requests (`pr`) it counts at each. `values` lists the 100 largest, `otherValues` counts the others, which no span lists. Projects are filtered by name or id. `pendingSessions` are not counted yet. A session without any time is in no span.",
    answers: {
      200: {
        text: "The figures.",
        example: {
          ...{
            ok: true,
            from: day.start,
            to: day.end,
            zone: "Europe/Berlin",
            unit: "day",
            by: "model",
            pendingSessions: 0,
          },
          total: { ...figures, untimedMessages: 0, uncountedMessages: 12 },
          ...{ values: [model], otherValues: 0, spans: [{ ...day, ...figures, values: [model] }] },
        },
      },
    },
    errors,
    partialExample: true,
    example,
    wrong,
  },
} satisfies Operation;

export const exportUsage = {
  methods: ["GET"],
  path: "/api/usage/export.csv",
  auth: "cookie-or-bearer",
  scope: "read",
  query: usageQuery,
  about: {
    group: "Usage",
    summary: "Export usage as CSV",
    text: "The figures of `GET /api/usage`, one row per span, or per span and value of `by`. Money is in US dollars. Text that a spreadsheet would interpret as a formula begins with an apostrophe.",
    answers: {
      200: {
        text: "The rows.",
        type: "text/csv",
        schema: z.string(),
        headers: { "Content-Disposition": { text: "A file name.", example: 'attachment; filename="spoor-usage.csv"' } },
        example: `from,to,model,sessions,messages,cost_usd,recorded_usd,input_tokens,output_tokens,cache_read_tokens,cache_write_5m_tokens,cache_write_1h_tokens,reasoning_tokens,unpriced_tokens,tier_not_priced_tokens,token_count\r\n2026-11-20,2026-11-20,claude-opus-4-5,1,24,0.041870500,0.000000000,1200,840,38200,2100,0,310,0,0,840\r\n`,
      },
    },
    errors,
    example,
    wrong,
  },
} satisfies Operation;
