// What this project's client and prices make of a home's sessions, by agent, model and day.

import { parseModelName } from "#lib/prices/model";
import { computePrice, type TokenUsage } from "#lib/prices/price";
import type { Host, Message, SessionDetails } from "../../cli/adapters/adapter.ts";
import { adapters } from "../../cli/adapters/registry.ts";
import { parseAll } from "../cli/home.ts";

export type Sum = { input: number; output: number; cacheRead: number; cacheWrite: number; nano: bigint | undefined };
/** By `AGENT MODEL DAY`. */
export type Sums = Map<string, Sum>;

const none: Sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, nano: 0n };

/** Adds to a line of the sums, where there is something. Money that is unknown once is unknown. */
export function add(sums: Sums, key: string, { nano, ...more }: Sum): void {
  if (more.input + more.output + more.cacheRead + more.cacheWrite === 0) return;
  const before = sums.get(key) ?? none;
  const sum = { ...none, nano: before.nano === undefined || nano === undefined ? undefined : before.nano + nano };
  for (const kind of ["input", "output", "cacheRead", "cacheWrite"] as const) sum[kind] = before[kind] + more[kind];
  sums.set(key, sum);
}

export const makeKey = (agent: string, model: string, day: string): string =>
  `${agent} ${parseModelName(model)?.model ?? model} ${day}`;

/** Reads a home with the client's adapters. */
export async function ourSums(host: Host): Promise<Sums> {
  const sums: Sums = new Map();
  for (const adapter of adapters) {
    for (const { source, messages, ending } of (await parseAll(adapter, host)).sessions) {
      let model = ending.model ?? ""; // messages tell it where it changes
      let request: Request | undefined;
      for (const message of messages) {
        const told = message.metadata?.model;
        if (typeof told === "string") model = told;
        request = addMessage(sums, { source, model, message, request });
      }
      addRest(sums, { source, messages, ending });
    }
  }
  return sums;
}

type Request = { input: number; speed?: string; serviceTier?: string };
type Seen = { source: string; model: string; message: Message; request: Request | undefined; isRest?: boolean };

/** @returns the request that the message belongs to: an answer's later messages add to the output alone */
function addMessage(sums: Sums, { source, model, message, request, isRest }: Seen): Request | undefined {
  const usage = message.metadata?.usage as TokenUsage | undefined;
  if (!usage || message.metadata?.replayed) return request;
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const { speed, serviceTier, webSearches } = message.metadata as Record<string, never>;
  const input = inputTokens + cacheReadTokens + cacheWriteTokens;
  const served = (input > 0 && !isRest) || !request ? { input, speed, serviceTier } : request;
  const at = new Date(message.createdAt ?? Number.NaN);
  const { input: requestInputTokens, ...tier } = served;
  const price = computePrice({ model, source, at, usage, webSearches, requestInputTokens, ...tier });
  add(sums, makeKey(source, model, at.toISOString().slice(0, 10)), {
    input: inputTokens,
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    nano: price?.costNano,
  });
  return served;
}

type Ended = { source: string; messages: Message[]; ending: SessionDetails };

/** Adds what the session used beyond its messages: some agents tell it for the whole session alone. */
function addRest(sums: Sums, { source, messages, ending }: Ended): void {
  const rest = { ...(ending.metadata?.usage as TokenUsage | undefined) };
  for (const { metadata } of messages) {
    if (metadata?.replayed) continue;
    for (const [kind, count] of Object.entries((metadata?.usage ?? {}) as TokenUsage)) {
      rest[kind as keyof TokenUsage] = (rest[kind as keyof TokenUsage] ?? 0) - count;
    }
  }
  const createdAt = messages.findLast((message) => message.createdAt)?.createdAt ?? ending.createdAt;
  const message: Message = { content: "", ...(createdAt && { createdAt }), metadata: { usage: rest } };
  addMessage(sums, { source, model: ending.model ?? "", message, request: { input: 0 }, isRest: true });
}
