import "server-only";
import { prisma } from "#lib/db/client";
import { findTariff } from "#lib/prices/tariff";
import { type ContextPoint, readContext } from "#lib/traces/sql/session";

/** `costNano` is null if nothing has a price. */
export type ModelUse = {
  model: string | null;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  costNano: number | null;
  /** Service tiers without a known price, such as `priority`, charged at the standard price. */
  tiersNotPriced: string[];
};

export type Circumstances = { machine: string | null; models: ModelUse[]; context: ContextPoint[] };

export async function readCircumstances(userId: string, traceId: string): Promise<Circumstances> {
  const [trace, rows, context] = await Promise.all([
    prisma().trace.findUnique({
      where: { userId_id: { userId, id: traceId } },
      select: { machine: true, source: true, activityAt: true, storedAt: true, dated: true },
    }),
    readUses(userId, traceId),
    readContext(userId, traceId),
  ]);
  const models = trace
    ? sumModels(rows, { source: trace.source, at: trace.dated ? trace.activityAt : trace.storedAt })
    : [];
  return { machine: trace?.machine ?? null, models, context };
}

const readUses = (userId: string, traceId: string) =>
  prisma().messageUsage.groupBy({
    by: ["model", "serviceTier"],
    where: { userId, traceId, counted: true },
    _sum: {
      inputTokens: true,
      outputTokens: true,
      cacheReadTokens: true,
      cacheWrite5mTokens: true,
      cacheWrite1hTokens: true,
      costNano: true,
    },
    orderBy: { _count: { position: "desc" } },
    take: 60,
  });

type Uses = Awaited<ReturnType<typeof readUses>>;

function sumModels(rows: Uses, session: { source: string; at: Date }): ModelUse[] {
  const byModel = Map.groupBy(rows, ({ model }) => model);
  return [...byModel].slice(0, 20).map(([model, uses]) => {
    const sum = (name: keyof Uses[number]["_sum"]) => uses.reduce((all, { _sum }) => all + Number(_sum[name] ?? 0), 0);
    const tiers = uses.flatMap(({ serviceTier }) =>
      model && serviceTier ? (findTariff({ model, serviceTier, ...session })?.by.unknownTier ?? []) : [],
    );
    return {
      model,
      inputTokens: sum("inputTokens"),
      outputTokens: sum("outputTokens"),
      cacheReadTokens: sum("cacheReadTokens"),
      cacheWriteTokens: sum("cacheWrite5mTokens") + sum("cacheWrite1hTokens"),
      costNano: uses.some(({ _sum }) => _sum.costNano !== null) ? sum("costNano") : null,
      tiersNotPriced: [...new Set(tiers)],
    };
  });
}
