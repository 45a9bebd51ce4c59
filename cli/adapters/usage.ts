import type { Message } from "./adapter.ts";

/** Tokens as an agent's API reports them. `inputTokens` excludes cached ones. */
export type Usage = {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  /** Of `cacheWriteTokens`, those that are kept for five minutes, and for an hour. */
  cacheWrite5mTokens?: number;
  cacheWrite1hTokens?: number;
  reasoningTokens?: number;
};

const usageFields = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWrite5mTokens",
  "cacheWrite1hTokens",
  "reasoningTokens",
] as const satisfies (keyof Usage)[];

/** Reports under one id come close together; a session of a gigabyte has more ids than fit into memory. */
const maxIds = 1000;

type SavedUsage = { known: [string, Usage][]; total: Usage };

/** Turns cumulative usage reports into what each of them adds. */
export class UsageCounter {
  readonly #known: Map<string, Usage>;
  #lastId: string | undefined;
  #lastMax: Usage = {};
  /** The sum of all reports. */
  readonly total: Usage;

  /** @param saved what `save` returned */
  constructor(saved?: SavedUsage) {
    this.#known = new Map(saved?.known);
    this.total = { ...saved?.total };
  }

  /** The counter as JSON. */
  save(): SavedUsage {
    return { known: [...this.#known], total: this.total };
  }

  /** @returns what a report adds to earlier ones under the same id; undefined where it adds nothing */
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

  /** Notes a report that counts elsewhere: later ones under the same id add what they have beyond it. */
  know(id: string, reported: Usage): void {
    const max = this.#getMax(id);
    for (const field of usageFields) max[field] = Math.max(max[field] ?? 0, reported[field] ?? 0);
  }

  /** The most that was reported under an id, which is then the latest. Most reports are under the same one as the report before. */
  #getMax(id: string): Usage {
    if (id === this.#lastId) return this.#lastMax;
    const max = { ...this.#known.get(id) };
    this.#known.delete(id);
    this.#known.set(id, max);
    if (this.#known.size > maxIds) this.#known.delete(this.#known.keys().next().value ?? "");
    this.#lastId = id;
    this.#lastMax = max;
    return max;
  }

  /** Adds a report that nothing repeats. @returns it without zeros; undefined where nothing is left */
  addOnce(reported: Usage): Usage | undefined {
    const counts = usageFields.flatMap((field) => (reported[field] ? [[field, reported[field]] as const] : []));
    for (const [field, count] of counts) this.total[field] = (this.total[field] ?? 0) + count;
    return counts.length > 0 ? Object.fromEntries(counts) : undefined;
  }
}

/** The most tokens that a message of the server's can have; a larger number is no count, and is kept in the usage only. */
const maxTokenCount = 2_147_483_647;

/** Adds to a message its usage, and as `tokenCount` the tokens that it produced. A message that has some has the sum then. */
export function withUsage(message: Message, usage: Usage | undefined): Message {
  if (!usage) return message;
  const before = message.metadata?.usage as Usage | undefined;
  const total = before ? sumUsage(before, usage) : usage;
  const metadata = { ...message.metadata, usage: total };
  const { outputTokens = 0 } = total;
  const isCount = outputTokens > 0 && outputTokens <= maxTokenCount;
  return isCount ? { ...message, tokenCount: outputTokens, metadata } : { ...message, metadata };
}

/** Marks a message as a copy: what it used counts in the session that it was copied from, and here only where no other has it. */
export function asCopy({ tokenCount: _, metadata, ...message }: Message): Message {
  const { usage, ...others } = metadata ?? {};
  return { ...message, metadata: { ...others, replayed: true, ...(usage !== undefined && { copiedUsage: usage }) } };
}

/** Two reports' sum. */
export const addUsage = (a: Usage, b: Usage): Usage => combined(a, b, (one, other) => one + other);

/** What a report has beyond another one; nowhere less than nothing. */
export const subtractUsage = (a: Usage, b: Usage): Usage => combined(a, b, (one, other) => Math.max(0, one - other));

const combined = (a: Usage, b: Usage, combine: (one: number, other: number) => number): Usage =>
  Object.fromEntries(usageFields.map((field) => [field, combine(a[field] ?? 0, b[field] ?? 0)]));

/** The sum of what two lines of one answer added, without zeros. */
export const sumUsage = (one: Usage, other: Usage): Usage =>
  Object.fromEntries(Object.entries(addUsage(one, other)).filter(([, count]) => count > 0));
