import { z } from "zod";
import { exactText, wholeNumber } from "#lib/core/fields";
import { limits } from "#lib/core/limits";

export const pullRequestQuery = z.object({
  repository: exactText(1, limits.trace.project),
  number: wholeNumber(1, limits.message.integer),
});

/** Newest activity first; at most 200 sessions and commits. */
export const pullRequestReport = z.object({
  repository: z.string(),
  number: z.int(),
  /** Several if hosts have a repository of the same name. */
  urls: z.array(z.url()),
  sessionCount: z.int(),
  subagentCount: z.int(),
  costNano: z.int(),
  usage: z.object({
    inputTokens: z.int(),
    outputTokens: z.int(),
    cacheReadTokens: z.int(),
    cacheWriteTokens: z.int(),
    unpricedTokens: z.int(),
    tierNotPricedTokens: z.int(),
  }),
  createdAt: z.iso.datetime().nullable(),
  updatedAt: z.iso.datetime().nullable(),
  sources: z.array(z.string()),
  models: z.array(z.string()),
  filesChanged: z.int(),
  linesAdded: z.int(),
  linesRemoved: z.int(),
  sessions: z.array(
    z.object({
      id: z.uuid(),
      title: z.string().nullable(),
      source: z.string(),
      model: z.string().nullable(),
      createdAt: z.iso.datetime().nullable(),
      updatedAt: z.iso.datetime(),
      dated: z.boolean(),
      messageCount: z.int(),
      costNano: z.int(),
      unpricedTokens: z.int(),
      subagents: z.int(),
      linkedTo: z.int(),
      evidence: z.string(),
      position: z.int().nullable(),
    }),
  ),
  commits: z.array(
    z.object({
      hash: z.string(),
      subject: z.string().nullable(),
      traceId: z.uuid(),
      position: z.int().nullable(),
      url: z.url().nullable(),
    }),
  ),
});

export const pullRequestResponse = z.object({ ok: z.literal(true), pullRequest: pullRequestReport });
