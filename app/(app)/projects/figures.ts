import type { ProjectSummary } from "#lib/projects/schema";

/** Includes cached tokens. */
export const sumTokens = ({ usage }: Pick<ProjectSummary, "usage">): number =>
  usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
