import "server-only";
import { readFamilies, readTraceOrigins } from "#lib/traces/family";
import type { Trace } from "#lib/traces/queries";
import { countTokens } from "../../list/spent";
import type { FamilyNumbers } from "./family";

const shown = 100;

export async function readFamilyKin(userId: string, traceId: string): Promise<Omit<FamilyNumbers, "own">> {
  const [origins, families] = await Promise.all([
    readTraceOrigins(userId, [traceId]),
    readFamilies(userId, [traceId], shown),
  ]);
  return { origin: origins.get(traceId), family: families.get(traceId) };
}

export const sumOwn = (trace: Trace): FamilyNumbers["own"] => ({
  messages: trace.messageCount,
  tokens: countTokens(trace),
  costNano: trace.costNano,
  unpricedTokens: trace.usage.unpricedTokens,
  tierNotPricedTokens: trace.usage.tierNotPricedTokens,
  seconds: trace.activeSeconds,
});
