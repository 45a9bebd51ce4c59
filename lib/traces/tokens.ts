type Used<Count> = Record<
  "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWrite5mTokens" | "cacheWrite1hTokens",
  Count
>;

/** Includes cached tokens; falls back to the messages' own counts. */
export function usedTokens(usage: Used<number | bigint | string>, tokenCount: number | bigint | string): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } = usage;
  const all = [inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens];
  return all.reduce<number>((sum, count) => sum + Number(count), 0) || Number(tokenCount);
}
