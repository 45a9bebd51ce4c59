// What an answer cost: its tokens, and what the API and the program say of it.
import { type Fields, isFields } from "../../files/json.ts";
import type { Usage, UsageCounter } from "../usage.ts";
import { asCount, asString, asTimestamp } from "../values.ts";

/** What a line of an answer adds to the session's usage, and facts for the answer's message. */
export type Cost = { usage?: Usage | undefined; facts?: Fields };

/** Reads the cost in an assistant's line. @param isFirst whether the line is the first one of its answer */
export function costOf({ message, requestId, uuid, costUSD }: Fields, counter: UsageCounter, isFirst: boolean): Cost {
  if (!isFields(message)) return {};
  const id = asString(message.id) ?? asString(requestId) ?? asString(uuid);
  const usage = isFields(message.usage) ? message.usage : undefined;
  const facts = {
    requestId: asString(requestId),
    serviceTier: asString(usage?.service_tier),
    speed: usage?.speed === "standard" ? undefined : asString(usage?.speed),
    webSearches: searchesIn(usage?.server_tool_use),
    // Versions before 1.0.9 recorded it.
    costUsd: isFirst ? amountOf(costUSD) : undefined,
    stopReason: asString(message.stop_reason),
  };
  if (!usage) return { facts };
  // Without any id nothing tells that a line repeats another one.
  return { usage: id ? counter.add(id, readUsage(usage)) : counter.addOnce(readUsage(usage)), facts };
}

const searchesIn = (uses: unknown): number | undefined =>
  (isFields(uses) && asCount(uses.web_search_requests)) || undefined;

const amountOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;

function readUsage(usage: Fields): Usage {
  const writes = isFields(usage.cache_creation) ? usage.cache_creation : {};
  const details = isFields(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const [short, long] = [
    asCount(writes.ephemeral_5m_input_tokens) ?? 0,
    asCount(writes.ephemeral_1h_input_tokens) ?? 0,
  ];
  return {
    inputTokens: asCount(usage.input_tokens) ?? 0,
    outputTokens: asCount(usage.output_tokens) ?? 0,
    cacheReadTokens: asCount(usage.cache_read_input_tokens) ?? 0,
    cacheWriteTokens: asCount(usage.cache_creation_input_tokens) ?? short + long,
    cacheWrite5mTokens: short,
    cacheWrite1hTokens: long,
    reasoningTokens: asCount(details.thinking_tokens) ?? 0,
  };
}

/** By the time at which the program was started, what it says that it spent since then. */
export type Costs = Record<string, number>;

const maxRuns = 100;

/** Reads a `cost-state` line, of which the last one of each run counts. */
export function readCosts(known: Costs, { startTime, totalCostUSD }: Fields): Costs {
  const startedAt = asTimestamp(startTime);
  const costUsd = amountOf(totalCostUSD);
  if (startedAt === undefined || costUsd === undefined) return known;
  const isNew = known[startedAt] === undefined;
  return isNew && Object.keys(known).length >= maxRuns ? known : { ...known, [startedAt]: costUsd };
}
