import "server-only";
import { prisma } from "#lib/db/client";
import { type ContextPoint, readContext } from "#lib/traces/sql/context";

/** What a model used in a session; `costNano` null where nothing of it has a price. */
export type ModelUse = {
  model: string | null;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  costNano: number | null;
};

/** What a session's page tells beyond the trace: its machine, what each model used, and how full the context was. */
export type Circumstances = { machine: string | null; models: ModelUse[]; context: ContextPoint[] };

export async function readCircumstances(userId: string, traceId: string): Promise<Circumstances> {
  const [trace, models, context] = await Promise.all([
    prisma().trace.findUnique({ where: { userId_id: { userId, id: traceId } }, select: { machine: true } }),
    readModels(userId, traceId),
    readContext(userId, traceId),
  ]);
  return { machine: trace?.machine ?? null, models, context };
}

/** The models of a session, the one that gave most answers first. */
async function readModels(userId: string, traceId: string): Promise<ModelUse[]> {
  const rows = await prisma().messageUsage.groupBy({
    by: ["model"],
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
    take: 20,
  });
  return rows.map(({ model, _sum: sum }) => ({
    model,
    inputTokens: sum.inputTokens ?? 0,
    outputTokens: sum.outputTokens ?? 0,
    cacheReadTokens: sum.cacheReadTokens ?? 0,
    cacheWriteTokens: (sum.cacheWrite5mTokens ?? 0) + (sum.cacheWrite1hTokens ?? 0),
    costNano: sum.costNano === null ? null : Number(sum.costNano),
  }));
}
