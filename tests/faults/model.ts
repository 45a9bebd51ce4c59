// A simple in-memory model of what the uploads of one user lead to.

type SentMessage = {
  position: number;
  content: string;
  role?: string;
  tokenCount?: number;
  createdAt?: string;
  metadata?: Record<string, unknown>;
};
export type SentTrace = {
  sourceId: string;
  source?: string;
  title?: string;
  model?: string;
  project?: string;
  replace?: boolean;
  messages: SentMessage[];
};

/** What an ended job reports. */
export type Counts = { created: number; updated: number; unchanged: number; kept: number };

/** A trace as it is read back, without the fields that a client cannot know. */
export type PlainTrace = {
  source: string;
  sourceId: string;
  title: string | null;
  model: string | null;
  project: string | null;
  messages: {
    position: number;
    role: string | null;
    content: string;
    tokenCount: number | null;
    createdAt: string | null;
    metadata: Record<string, unknown> | null;
  }[];
};

export const makeKey = ({ source = "unknown", sourceId }: { source?: string; sourceId: string }) =>
  JSON.stringify([source, sourceId]);

/** A sent trace in the form in which it is read back. */
export function plain({ source = "unknown", sourceId, title, model, project, messages }: SentTrace): PlainTrace {
  return {
    source,
    sourceId,
    title: title ?? null,
    model: model ?? null,
    project: project ?? null,
    messages: messages
      .map(({ position, role, content, tokenCount, createdAt, metadata }) => ({
        position,
        role: role ?? null,
        content,
        tokenCount: tokenCount ?? null,
        createdAt: createdAt === undefined ? null : new Date(createdAt).toISOString(),
        metadata: metadata ?? null,
      }))
      .sort((a, b) => a.position - b.position),
  };
}

/**
 * Applies uploads one after the other.
 *
 * @param uploads in the order in which they were accepted.
 * @param deleted keys that their owner had deleted before.
 * @returns the traces by key, and each upload's expected job.
 */
export function applyUploads(uploads: SentTrace[][], deleted: ReadonlySet<string> = new Set()) {
  const traces = new Map<string, PlainTrace>();
  const counts = uploads.map((upload) => {
    const result: Counts = { created: 0, updated: 0, unchanged: 0, kept: 0 };
    const lastOfEach = new Map(upload.map((trace) => [makeKey(trace), trace]));
    for (const [key, sent] of lastOfEach) {
      const next = plain(sent);
      const stored = traces.get(key);
      if (deleted.has(key)) result.kept += 1;
      else if (!stored) result.created += 1;
      else if (JSON.stringify(stored) === JSON.stringify(next)) result.unchanged += 1;
      else if (next.messages.length < stored.messages.length && !sent.replace) result.kept += 1;
      else result.updated += 1;
      const isTaken = !stored || next.messages.length >= stored.messages.length || sent.replace;
      if (!deleted.has(key) && isTaken) traces.set(key, next);
    }
    return result;
  });
  return { traces, counts };
}
