import type { Figures } from "#lib/usage/schema";

export const noFigures = (): Figures => ({
  ...{ costNano: 0, recordedNano: 0, compared: { costNano: 0, recordedNano: 0 } },
  ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 },
  ...{ reasoningTokens: 0, unpricedTokens: 0, tierNotPricedTokens: 0, tokenCount: 0, messages: 0, sessions: 0 },
});
