// How many tokens a session used: one count, in whatever page, answer or file it stands.

type Used<Count> = Record<
  "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWrite5mTokens" | "cacheWrite1hTokens",
  Count
>;

/** All tokens that a session used, those of a cache included; where its agent told none, the sum of the messages' own counts. */
export function usedTokens(usage: Used<number | bigint | string>, tokenCount: number | bigint | string): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } = usage;
  const all = [inputTokens, outputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens];
  return all.reduce<number>((sum, count) => sum + Number(count), 0) || Number(tokenCount);
}
