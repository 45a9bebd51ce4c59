import type { ProjectSummary } from "#lib/projects/schema";

/** All tokens of a project's sessions, cached ones included. */
export const sumTokens = ({ usage }: Pick<ProjectSummary, "usage">): number =>
  usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
