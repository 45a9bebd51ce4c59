// An answer's usage lists its requests if the API made several, perhaps of other models.
import type { Fields } from "../../../files/json.ts";
import { addUsage, subtractUsage, type Usage } from "../../usage.ts";
import { asCount, asFields, asString, listFields } from "../../values.ts";

type OtherUsage = { model: string; isAdvice: boolean; usage: Usage };

export type SplitUsage = { own: Usage; requests: Usage[]; others: OtherUsage[] };

const maxRequests = 50;

/** The usage's own numbers exclude these. */
const otherRequests = new Set(["advisor_message", "compaction"]);

export function splitUsage(usage: Fields, model: string | undefined): SplitUsage {
  const whole = readUsage(usage);
  const list = listFields(usage.iterations).slice(0, maxRequests);
  if (list.length === 0) return { own: whole, requests: [], others: [] };
  const hourly = (whole.cacheWrite1hTokens ?? 0) > 0 && !whole.cacheWrite5mTokens;
  const all = list.map((one) => ({
    type: asString(one.type) ?? "message",
    model: asString(one.model) ?? model,
    usage: withDuration(readUsage(one), hourly),
  }));
  const isOwn = (one: (typeof all)[number]) => one.model === undefined || one.model === model;
  const others = all.flatMap((one) =>
    one.model === undefined || isOwn(one)
      ? []
      : [{ model: one.model, isAdvice: one.type === "advisor_message", usage: one.usage }],
  );
  const foreign = all.filter((one) => !isOwn(one) && !otherRequests.has(one.type));
  const isIncluded = foreign.length > 0 && covers(whole, addAll(all.filter(({ type }) => !otherRequests.has(type))));
  const remaining = isIncluded ? subtractUsage(whole, addAll(foreign)) : whole;
  const compactions = all.filter((one) => isOwn(one) && one.type === "compaction");
  const own = compactions.length > 0 ? addUsage(remaining, addAll(compactions)) : remaining;
  const requests = all.filter(isOwn).map((one) => one.usage);
  return { own, requests: requests.length > 1 ? requests : [], others };
}

const addAll = (parts: { usage: Usage }[]): Usage =>
  parts.reduce((sum, { usage }) => addUsage(sum, usage), {} as Usage);

const sides = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

/** Some answers' requests exceed the whole. */
const covers = (whole: Usage, parts: Usage): boolean => sides.every((side) => (whole[side] ?? 0) >= (parts[side] ?? 0));

/** The duration of cache writes is often missing in a request and present in the answer. */
const withDuration = (usage: Usage, hourly: boolean): Usage =>
  hourly && usage.cacheWriteTokens && !usage.cacheWrite5mTokens && !usage.cacheWrite1hTokens
    ? { ...usage, cacheWrite1hTokens: usage.cacheWriteTokens }
    : usage;

function readUsage(usage: Fields): Usage {
  const writes = asFields(usage.cache_creation);
  const details = asFields(usage.output_tokens_details);
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
