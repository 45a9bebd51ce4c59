import { isMissingOrForbidden, statInput } from "../../files/discovery.ts";
import { type Fields, isFields, parseJson } from "../../files/json.ts";
import { readLines } from "../../files/line-reader.ts";
import type { Usage } from "../usage.ts";
import { asCount, asString } from "../values.ts";

/** What Qwen Code recorded at the end of a run: the session's tokens by model, as far as its file and the run tell them. */
export type Run = { endedAt: number; models: ReadonlyMap<string, Usage> };

type Runs = ReadonlyMap<string, readonly Run[]>;

/** What was read of each file: one that nobody has written to since is not read again. */
const known = new Map<string, { stamp: string; runs: Runs }>();

/** The runs of all sessions, by the sessions' ids, in `usage_record.jsonl`; none where it can't be read. */
export async function readRuns(path: string): Promise<Runs> {
  const file = await statInput(path);
  const before = known.get(path);
  if (!file || before?.stamp === file.stamp) return (file && before?.runs) ?? new Map();
  const runs = new Map<string, Run[]>();
  const take = (line: string) => {
    const record = parseJson(line);
    const id = isFields(record) ? asString(record.sessionId) : undefined;
    if (!isFields(record) || id === undefined) return;
    const endedAt = asCount(record.timestamp);
    if (endedAt === undefined || !isFields(record.models)) return;
    const models = Object.entries(record.models).filter((entry): entry is [string, Fields] => isFields(entry[1]));
    const run = { endedAt, models: new Map(models.map(([model, counts]) => [model, usageIn(counts)])) };
    const before = runs.get(id);
    if (before) before.push(run);
    else runs.set(id, [run]);
  };
  try {
    await readLines(path, take, { tooLong() {}, pause: async () => {} });
  } catch (error) {
    if (!isMissingOrForbidden(error)) throw error;
  }
  known.set(path, { stamp: file.stamp, runs });
  return runs;
}

const usageIn = (counts: Fields): Usage =>
  readTokens(counts.inputTokens, counts.outputTokens, counts.cachedTokens, counts.thoughtsTokens);

/** The prompt's tokens include those from the cache, the answer's those of its thoughts. */
export function readTokens(prompt: unknown, answer: unknown, cached: unknown, thoughts: unknown): Usage {
  const cacheReadTokens = asCount(cached) ?? 0;
  return {
    inputTokens: Math.max(0, (asCount(prompt) ?? 0) - cacheReadTokens),
    outputTokens: asCount(answer) ?? 0,
    cacheReadTokens,
    reasoningTokens: asCount(thoughts) ?? 0,
  };
}
