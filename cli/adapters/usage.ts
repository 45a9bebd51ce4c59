import type { Fields } from "../files/json.ts";
import type { Message } from "./adapter.ts";
import { asCount, dropOldest } from "./values.ts";

/** Tokens as an agent's API reports them. `inputTokens` excludes cached ones. */
export type Usage = {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  cacheWrite5mTokens?: number;
  cacheWrite1hTokens?: number;
  reasoningTokens?: number;
};

export function readTokens(
  reported: { [field in keyof Usage]?: unknown },
  { includesCache = false }: { includesCache?: boolean } = {},
): Usage {
  const usage: Usage = {};
  for (const field of usageFields) if (field in reported) usage[field] = asCount(reported[field]) ?? 0;
  if (!includesCache) return usage;
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  return { ...usage, inputTokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens) };
}

export const readAnthropicTokens = (usage: Fields): Usage =>
  readTokens({
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.cache_read_input_tokens,
    cacheWriteTokens: usage.cache_creation_input_tokens,
  });

const usageFields = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWrite5mTokens",
  "cacheWrite1hTokens",
  "reasoningTokens",
] as const satisfies (keyof Usage)[];

/** Reports under one id come close together. */
const maxIds = 1000;

type SavedUsage = { known: [string, Usage][]; total: Usage };

export class UsageCounter {
  readonly #known: Map<string, Usage>;
  #lastId: string | undefined;
  #lastMax: Usage = {};
  readonly total: Usage;

  constructor(saved?: SavedUsage) {
    this.#known = new Map(saved?.known);
    this.total = { ...saved?.total };
  }

  save(): SavedUsage {
    return { known: [...this.#known], total: this.total };
  }

  /** Returns what a report adds to earlier ones under the same id. */
  add(id: string, reported: Usage): Usage | undefined {
    const max = this.#getMax(id);
    let added: Usage | undefined;
    for (const field of usageFields) {
      const more = (reported[field] ?? 0) - (max[field] ?? 0);
      if (more <= 0) continue;
      added ??= {};
      added[field] = more;
      max[field] = reported[field] ?? 0;
      this.total[field] = (this.total[field] ?? 0) + more;
    }
    return added;
  }

  /** Notes a report that counts elsewhere. */
  know(id: string, reported: Usage): void {
    const max = this.#getMax(id);
    for (const field of usageFields) max[field] = Math.max(max[field] ?? 0, reported[field] ?? 0);
  }

  /** Most reports are under the same id as the report before. */
  #getMax(id: string): Usage {
    if (id === this.#lastId) return this.#lastMax;
    const max = { ...this.#known.get(id) };
    this.#known.delete(id);
    this.#known.set(id, max);
    dropOldest(this.#known, maxIds);
    this.#lastId = id;
    this.#lastMax = max;
    return max;
  }

  /** Adds a report that nothing repeats, and returns it without zeros. */
  addOnce(reported: Usage): Usage | undefined {
    const counts = usageFields.flatMap((field) => (reported[field] ? [[field, reported[field]] as const] : []));
    for (const [field, count] of counts) this.total[field] = (this.total[field] ?? 0) + count;
    return counts.length > 0 ? Object.fromEntries(counts) : undefined;
  }
}

/** The server's limit; a larger number is kept in the usage only. */
const maxTokenCount = 2_147_483_647;

export function withUsage(message: Message, usage: Usage | undefined): Message {
  if (!usage) return message;
  const before = message.metadata?.usage as Usage | undefined;
  const total = before ? sumUsage(before, usage) : usage;
  const metadata = { ...message.metadata, usage: total };
  const { outputTokens = 0 } = total;
  const isCount = outputTokens > 0 && outputTokens <= maxTokenCount;
  return isCount ? { ...message, tokenCount: outputTokens, metadata } : { ...message, metadata };
}

export function asCopy({ tokenCount: _, metadata, ...message }: Message): Message {
  const { usage, ...others } = metadata ?? {};
  return { ...message, metadata: { ...others, replayed: true, ...(usage !== undefined && { copiedUsage: usage }) } };
}

export const addUsage = (a: Usage, b: Usage): Usage => combine(a, b, (one, other) => one + other);

export const subtractUsage = (a: Usage, b: Usage): Usage => combine(a, b, (one, other) => Math.max(0, one - other));

const combine = (a: Usage, b: Usage, combine: (one: number, other: number) => number): Usage =>
  Object.fromEntries(usageFields.map((field) => [field, combine(a[field] ?? 0, b[field] ?? 0)]));

export const sumUsage = (one: Usage, other: Usage): Usage =>
  Object.fromEntries(Object.entries(addUsage(one, other)).filter(([, count]) => count > 0));
