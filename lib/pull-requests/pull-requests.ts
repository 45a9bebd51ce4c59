import "server-only";
import type { z } from "zod";
import { commitPage } from "#common/evidence/remotes";
import { notFound } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import type { pullRequestReport } from "#lib/pull-requests/schema";
import { type PullRequestKey, readPullRequestRows } from "#lib/pull-requests/sql";
import { tellUpdated } from "#lib/search/sql/selection";

export type PullRequestReport = z.input<typeof pullRequestReport>;

const max = { sessions: limits.traces.maxPerPage, commits: limits.traces.maxPerPage };

/**
 * Each session counts once here, with its sub-agents, and fully at each of its pull requests.
 * @throws SpoorError `not_found`, `overloaded` as `heavyRead`
 */
export async function readPullRequest(userId: string, key: PullRequestKey): Promise<PullRequestReport> {
  const found = await readPullRequestRows(userId, key, max);
  if (!found) throw notFound();
  const { urls, sessions, total, commits } = found;
  return {
    ...key,
    urls,
    sessionCount: total.sessions,
    subagentCount: total.subagents,
    costNano: Number(total.costNano),
    usage: {
      inputTokens: Number(total.inputTokens),
      outputTokens: Number(total.outputTokens),
      cacheReadTokens: Number(total.cacheReadTokens),
      cacheWriteTokens: Number(total.cacheWriteTokens),
      unpricedTokens: Number(total.unpricedTokens),
      tierNotPricedTokens: Number(total.tierNotPricedTokens),
    },
    createdAt: total.createdAt?.toISOString() ?? null,
    updatedAt: total.updatedAt?.toISOString() ?? null,
    sources: total.sources ?? [],
    models: total.models ?? [],
    filesChanged: total.files,
    linesAdded: Number(total.linesAdded),
    linesRemoved: Number(total.linesRemoved),
    sessions: sessions.map(({ activityAt, storedAt, createdAt, costNano, unpricedTokens, ...session }) => ({
      ...session,
      createdAt: createdAt?.toISOString() ?? null,
      updatedAt: tellUpdated({ activityAt, storedAt, dated: session.dated }),
      costNano: Number(costNano),
      unpricedTokens: Number(unpricedTokens),
    })),
    commits: commits.map(({ hash, subject, repository, traceId, position }) => ({
      ...{ hash, subject, traceId, position },
      url: commitPage(repository, hash) ?? null,
    })),
  };
}
