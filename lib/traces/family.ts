import "server-only";
import { prisma } from "#lib/db/client";
import { tellUpdated } from "#lib/search/sql/selection";
import {
  type MemberRow,
  type Relation,
  readChildren,
  readOrigins,
  readSubagentIds,
  readSums,
} from "#lib/traces/sql/family";

export type { Relation };

/** `costNano` excludes tokens without a price, `seconds` excludes pauses. */
export type FamilySums = {
  messages: number;
  tokens: number;
  costNano: number;
  unpricedTokens: number;
  tierNotPricedTokens: number;
  seconds: number;
};

export type Member = {
  id: string;
  relation: Relation;
  position: number | null;
  source: string;
  title: string | null;
  model: string | null;
  createdAt: string | null;
  updatedAt: string;
  dated: boolean;
  own: FamilySums;
  below: number;
};

export type Family = {
  counts: Record<Relation, number>;
  below: number;
  isCut: boolean;
  sums: FamilySums;
  members: Member[];
};

const maxBelow = 5000;

/**
 * Sessions with nothing below are missing.
 * @param each number of children returned per session
 */
export async function readFamilies(userId: string, ids: string[], each: number): Promise<Map<string, Family>> {
  const sums = await readSums(userId, ids, maxBelow);
  const children = await readChildren(
    userId,
    sums.map(({ id }) => id),
    each,
  );
  const below = await readSums(
    userId,
    children.map(({ id }) => id),
    maxBelow,
  );
  const isCut = sums.reduce((sum, row) => sum + row.below, 0) >= maxBelow;
  const countsBelow = new Map(below.map((row) => [row.id, row.below]));
  return new Map(
    sums.map(({ id, subagents, forks, continuations, costNano, unpricedTokens, tierNotPricedTokens, ...row }) => {
      const { messages, tokens, seconds } = row;
      const own = children.filter(({ parentId }) => parentId === id);
      const family: Family = {
        counts: { subagent: subagents, fork: forks, continuation: continuations },
        below: row.below,
        isCut,
        sums: {
          messages,
          tokens,
          seconds,
          costNano: Number(costNano),
          unpricedTokens: Number(unpricedTokens),
          tierNotPricedTokens: Number(tierNotPricedTokens),
        },
        members: own.map((child) => presentMember(child, countsBelow.get(child.id) ?? 0)),
      };
      return [id, family] as const;
    }),
  );
}

function presentMember({ parentId: _, activityAt, storedAt, createdAt, ...row }: MemberRow, below: number): Member {
  const { messageCount, tokens, costNano, unpricedTokens, tierNotPricedTokens, activeSeconds, ...rest } = row;
  return {
    ...rest,
    createdAt: createdAt?.toISOString() ?? null,
    updatedAt: tellUpdated({ activityAt, storedAt, dated: row.dated }),
    below,
    own: {
      messages: messageCount,
      tokens: Number(tokens),
      costNano: Number(costNano),
      unpricedTokens: Number(unpricedTokens),
      tierNotPricedTokens: Number(tierNotPricedTokens),
      seconds: activeSeconds,
    },
  };
}

export type Origin = { relation: Relation; parentId: string; title: string | null; position: number | null };

export async function readTraceOrigins(userId: string, ids: string[]): Promise<Map<string, Origin>> {
  return new Map((await readOrigins(userId, ids)).map(({ id, ...origin }) => [id, origin]));
}

/** Deleted together with the sessions that started them. */
const maxSubagents = 50_000;

export async function findSubagents(userId: string, ids: string[]): Promise<string[]> {
  const given = new Set(ids);
  return (await readSubagentIds(userId, ids, maxSubagents)).filter((id) => !given.has(id));
}

export type Started = { id: string; messages: number; costNano: number; seconds: number };

export async function findStarted(userId: string, traceId: string, sourceIds: string[]): Promise<Map<string, Started>> {
  if (sourceIds.length === 0) return new Map();
  const starter = await prisma().trace.findUnique({
    where: { userId_id: { userId, id: traceId }, deletedAt: null },
    select: { source: true },
  });
  if (!starter) return new Map();
  const rows = await prisma().trace.findMany({
    where: { userId, source: starter.source, sourceId: { in: sourceIds }, id: { not: traceId }, deletedAt: null },
    select: { id: true, sourceId: true, messageCount: true, costNano: true, activeSeconds: true },
  });
  return new Map(
    rows.map(({ id, sourceId, messageCount, costNano, activeSeconds }) => [
      sourceId,
      { id, messages: messageCount, costNano: Number(costNano), seconds: activeSeconds },
    ]),
  );
}
