import { type Fields, isFields } from "../../../files/json.ts";
import { sumUsage, type Usage, type UsageCounter } from "../../usage.ts";
import { asAmount, asCount, asFields, asString, asTimestamp } from "../../values.ts";
import { splitUsage } from "./iterations.ts";
import type { RequestIds } from "./request-ids.ts";

export type Cost = { usage?: Usage | undefined; facts?: Fields; others?: OtherCost[] };
export type OtherCost = { model: string; isAdvice: boolean; usage: Usage; requestId?: string; createdAt?: string };

export type Reports = { counter: UsageCounter; ids: RequestIds };

export function readCost(record: Fields, { counter, ids }: Reports, isFirst: boolean): Cost {
  const { message, costUSD } = record;
  if (!isFields(message)) return {};
  const usage = isFields(message.usage) ? message.usage : undefined;
  const facts: Fields = {
    requestId: asString(record.requestId),
    serviceTier: asString(usage?.service_tier),
    speed: usage?.speed === "standard" ? undefined : asString(usage?.speed),
    webSearches: countSearches(usage?.server_tool_use),
    // Only versions before 1.0.9 recorded it.
    costUsd: isFirst ? asAmount(costUSD) : undefined,
    stopReason: record.isAbortedMidStream === true ? "aborted" : asString(message.stop_reason),
  };
  if (!usage) return { facts };
  const { own, requests, others } = splitUsage(usage, asString(message.model));
  const request = findRequest(record, own, ids);
  // Nothing shows that a line without ids and input repeats another one.
  if (request === undefined) return { usage: counter.addOnce(own), facts };
  const { key, number } = request;
  const requestId = number > 1 && facts.requestId ? `${facts.requestId}~${number}` : asString(facts.requestId);
  const added = others.flatMap((other, at) => {
    const more = counter.add(`${key}#${at}`, other.usage);
    return more ? [{ ...other, usage: more, ...(requestId && { requestId }) }] : [];
  });
  const allFacts = { ...facts, requestId, requests: requests.length > 0 ? requests : undefined };
  return { usage: counter.add(key, own), facts: allFacts, ...(added.length > 0 && { others: added }) };
}

export function knowCost(record: Fields, { counter, ids }: Reports): void {
  const { message } = record;
  if (!isFields(message) || !isFields(message.usage)) return;
  const { own, others } = splitUsage(message.usage, asString(message.model));
  const request = findRequest(record, own, ids);
  if (request === undefined) return;
  counter.know(request.key, own);
  for (const [at, { usage }] of others.entries()) counter.know(`${request.key}#${at}`, usage);
}

function findRequest(record: Fields, own: Usage, ids: RequestIds): { key: string; number: number } | undefined {
  const message = asFields(record.message);
  const hasInput = [own.inputTokens, own.cacheReadTokens, own.cacheWriteTokens].some(Boolean);
  const id = asString(message.id) ?? asString(record.requestId) ?? (hasInput ? "" : asString(record.uuid));
  if (id === undefined) return undefined;
  const number = ids.countRequests(id, own, asString(message.model));
  return { key: number > 1 ? `${id}~${number}` : id, number };
}

export function joinCosts(before: Cost, { usage, facts }: Cost, uuid: unknown): Cost {
  const all: Fields = before.facts ? { ...before.facts, ...facts } : (facts ?? {});
  if (typeof uuid === "string" && uuid !== "") all.uuid = uuid;
  const both = before.usage && usage ? sumUsage(before.usage, usage) : (before.usage ?? usage);
  return { usage: both, facts: all };
}

const countSearches = (uses: unknown): number | undefined =>
  (isFields(uses) && asCount(uses.web_search_requests)) || undefined;

export type Costs = Record<string, number>;

const maxRuns = 100;

export function readCosts(known: Costs, { startTime, totalCostUSD }: Fields): Costs {
  const startedAt = asTimestamp(startTime);
  const costUsd = asAmount(totalCostUSD);
  if (startedAt === undefined || costUsd === undefined) return known;
  const isNew = known[startedAt] === undefined;
  return isNew && Object.keys(known).length >= maxRuns ? known : { ...known, [startedAt]: costUsd };
}
