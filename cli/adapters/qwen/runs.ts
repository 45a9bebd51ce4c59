import { cacheByStamp, readLinesQuietly } from "../../files/file-cache.ts";
import { isFields } from "../../files/json.ts";
import { readTokens, type Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";

export type Run = { endedAt: number; models: ReadonlyMap<string, Usage> };

export const readRuns = cacheByStamp<ReadonlyMap<string, readonly Run[]>>(async (path) => {
  const runs = new Map<string, Run[]>();
  await readLinesQuietly(path, ({ sessionId, timestamp, models }) => {
    const [id, endedAt] = [asString(sessionId), asCount(timestamp)];
    if (id === undefined || endedAt === undefined || !isFields(models)) return;
    const run = {
      endedAt,
      models: new Map(Object.entries(models).flatMap(([model, counts]) => readCounts(model, counts))),
    };
    runs.set(id, [...(runs.get(id) ?? []), run]);
  });
  return runs;
}, new Map());

function readCounts(model: string, counts: unknown): [string, Usage][] {
  if (!isFields(counts)) return [];
  const { inputTokens, outputTokens, cachedTokens: cacheReadTokens, thoughtsTokens: reasoningTokens } = counts;
  const reported = { inputTokens, outputTokens, cacheReadTokens, reasoningTokens };
  return [[model, readTokens(reported, { includesCache: true })]];
}
