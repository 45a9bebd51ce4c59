import "server-only";
import { readFamilies, readTraceOrigins } from "#lib/traces/family";
import type { Trace } from "#lib/traces/queries";
import { countTokens } from "../../spent";
import type { FamilyNumbers } from "./family";

/** How many of those that came from a session its page lists. */
const shown = 100;

/** Where a session came from, and what came from it. */
export async function readFamilyKin(userId: string, traceId: string): Promise<Omit<FamilyNumbers, "own">> {
  const [origins, families] = await Promise.all([
    readTraceOrigins(userId, [traceId]),
    readFamilies(userId, [traceId], shown),
  ]);
  return { origin: origins.get(traceId), family: families.get(traceId) };
}

/** Sums what a session has itself, without its sub-agents. */
export const sumOwn = (trace: Trace): FamilyNumbers["own"] => ({
  messages: trace.messageCount,
  tokens: countTokens(trace),
  costNano: trace.costNano,
  unpricedTokens: trace.usage.unpricedTokens,
  tierNotPricedTokens: trace.usage.tierNotPricedTokens,
  seconds: trace.activeSeconds,
});
