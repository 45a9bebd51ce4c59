import "server-only";
import type { z } from "zod";
import { commitPage } from "#common/evidence/remotes";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import { getTrace, type Trace } from "#lib/traces/queries";
import type { listedTraceShape, wholeTraceShape } from "#lib/traces/schema";
import { readBranches, readPullRequests } from "#lib/traces/sql/session";

export type WholeTrace = z.input<typeof wholeTraceShape>;
export type WithPullRequests<T> = T & Pick<z.input<typeof listedTraceShape>, "pullRequests">;
export type Evidence = Pick<WholeTrace, "branches" | "commits" | "pullRequests">;

const order = { position: { sort: "asc", nulls: "last" } } as const;

/**
 * Lists what only the agent recorded last.
 *
 * @param remote the folder's Git remote, to link commits whose push wasn't seen
 */
export async function readEvidence(userId: string, traceId: string, remote?: unknown): Promise<Evidence> {
  const where = { userId, traceId };
  const [branches, commits, pullRequests] = await Promise.all([
    prisma().traceBranch.findMany({
      where,
      select: { branch: true, evidence: true, position: true },
      orderBy: [order, { branch: "asc" }],
    }),
    prisma().traceCommit.findMany({
      where: { ...where, counted: true },
      select: {
        hash: true,
        subject: true,
        branch: true,
        repository: true,
        evidence: true,
        position: true,
      },
      orderBy: [order, { hash: "asc" }],
    }),
    prisma().tracePullRequest.findMany({
      where: { ...where, counted: true },
      select: { number: true, repository: true, url: true, evidence: true, position: true },
      orderBy: [order, { url: "asc" }],
    }),
  ]);
  const own = typeof remote === "string" ? remote : undefined;
  const withPages = commits.map((one) => ({ ...one, url: commitPage(one.repository ?? own, one.hash) ?? null }));
  return { branches, commits: withPages, pullRequests };
}

export async function getWholeTrace(userId: string, traceId: string): Promise<WholeTrace> {
  const trace = await getTrace(userId, traceId);
  return { ...trace, ...(await readEvidence(userId, traceId, trace.metadata?.repository)) };
}

export async function withPullRequests<T extends Trace, More extends { traces: T[] }>(
  userId: string,
  page: More & { traces: T[] },
): Promise<Omit<More, "traces"> & { traces: WithPullRequests<T>[] }> {
  const ids = page.traces.map(({ id }) => id);
  const rows = ids.length > 0 ? await readPullRequests(userId, ids, limits.traces.pullRequestsListed) : [];
  const byTrace = Map.groupBy(rows, ({ traceId }) => traceId);
  const traces = page.traces.map((trace) => ({
    ...trace,
    pullRequests: (byTrace.get(trace.id) ?? []).map(({ number, repository, url }) => ({ number, repository, url })),
  }));
  return { ...page, traces };
}

export const readTraceBranches = async (userId: string, traces: { id: string }[]): Promise<Map<string, string>> =>
  traces.length > 0
    ? readBranches(
        userId,
        traces.map(({ id }) => id),
      )
    : new Map();
