import type { Operation } from "#lib/http/operation";
import { pullRequestQuery, pullRequestResponse } from "#lib/pull-requests/schema";
import { trace, wholeTrace } from "#lib/traces/examples";

const [commit] = wholeTrace.commits;
const [opened] = wholeTrace.pullRequests;
const { id, title, source, model, createdAt, updatedAt, dated, messageCount, costNano } = trace;

const pullRequest = {
  repository: opened?.repository,
  number: opened?.number,
  urls: [opened?.url],
  sessionCount: 1,
  subagentCount: 2,
  costNano: 31_020_000,
  usage: {
    inputTokens: 40,
    outputTokens: 812,
    cacheReadTokens: 51_200,
    cacheWriteTokens: 930,
    unpricedTokens: 0,
    tierNotPricedTokens: 0,
  },
  ...{ createdAt, updatedAt },
  sources: [source],
  models: [model],
  ...{ filesChanged: 1, linesAdded: 4, linesRemoved: 2 },
  sessions: [
    {
      ...{ id, title, source, model, createdAt, updatedAt, dated, messageCount },
      costNano: costNano + 18_485_000,
      unpricedTokens: 0,
      subagents: 2,
      linkedTo: 1,
      evidence: opened?.evidence,
      position: opened?.position,
    },
  ],
  commits: [
    { hash: commit?.hash, subject: commit?.subject, traceId: id, position: commit?.position, url: commit?.url },
  ],
};

export const readPullRequestReport = {
  methods: ["GET"],
  path: "/api/pulls",
  auth: "cookie-or-bearer",
  scope: "read",
  query: pullRequestQuery,
  response: pullRequestResponse,
  about: {
    group: "Traces",
    summary: "Get the sessions of a pull request",
    text: "The sessions that opened a pull request (GitLab's merge request) or are linked to it, and their usage and cost, including sub-agents. `repository` is its path on the host, `OWNER/NAME` or with deeper groups. Each session counts once here; one that is linked to several pull requests (`linkedTo`) counts fully at each, so sums of pull requests don't add up. `commits` lists all commits of these sessions. At most 200 sessions and commits are listed; sums include all.",
    answers: { 200: { text: "Its sessions and sums.", example: { ok: true, pullRequest } } },
    errors: { not_found: { when: "None of your sessions is linked to this pull request." } },
    example: { query: { repository: "ada/api", number: "123" } },
    wrong: { query: { repository: "ada/api", number: "0" } },
  },
} satisfies Operation;
