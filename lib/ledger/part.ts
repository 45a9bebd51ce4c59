// What a part of the ledger is. The job (account.ts) shows it the messages of traces that changed, and has it write what it found.
import "server-only";
import type { PoolClient } from "pg";
import type { Trace } from "#lib/generated/prisma/client";

/** A trace as the ledger reads it. `projectId` is the stored one, and from the part on that tells it, that part's. */
export type LedgerTrace = Pick<
  Trace,
  | "userId"
  | "id"
  | "source"
  | "sourceId"
  | "model"
  | "project"
  | "machine"
  | "createdAt"
  | "activityAt"
  | "storedAt"
  | "projectId"
> & { metadata: Record<string, unknown> | null };

/**
 * A message as the ledger reads it. Of one with more than a MiB the content's start, and of its metadata, where that is what
 * is large, only what usage is read from.
 */
export type LedgerMessage = {
  position: number;
  role: string | null;
  content: string;
  tokenCount: number | null;
  createdAt: Date | null;
  metadata: Record<string, unknown> | null;
};

/** The columns of a trace that are derived from its messages and from other traces. */
export type DerivedColumns = Pick<
  Trace,
  | "inputTokens"
  | "outputTokens"
  | "cacheReadTokens"
  | "cacheWrite5mTokens"
  | "cacheWrite1hTokens"
  | "reasoningTokens"
  | "unpricedTokens"
  | "tierNotPricedTokens"
  | "costNano"
  | "recordedNano"
  | "parentSourceId"
  | "parentRelation"
  | "parentId"
  | "parentPosition"
  | "continuedIn"
  | "childrenAt"
  | "projectId"
  | "filesChanged"
  | "linesAdded"
  | "linesRemoved"
  | "derivedTitle"
  | "titleRank"
  | "turnCount"
  | "callCount"
  | "errorCount"
  | "activeSeconds"
  | "dated"
  | "activityAt"
  | "tools"
  | "spark"
  | "trivial"
> & {
  /** Has another trace accounted for again, from where it was accounted to. */
  ledgerDue: true;
};

/**
 * Columns to set, by the trace's id: of the given traces, and of others of the same user, such as a parent or a child. Nothing
 * is committed as long as one of those others is locked by an upload.
 */
export type ColumnsByTrace = Map<string, Partial<DerivedColumns>>;

/** What one part of the ledger finds in a trace whose messages from a position on it is shown in order. */
export type TraceReader<Found> = {
  see(message: LedgerMessage): void;
  /**
   * The position from which it has to see messages again when the trace grows, such as an open call's; undefined: none. One
   * further back than 1000 messages is not waited for.
   *
   * @param position from which messages are seen again for another part; where that is in the middle of what belongs together
   * here, all of it has to be
   */
  openFrom?(position: number): number | undefined;
  found(): Found;
};

/** What a part found in a trace from a position on; 0 is the whole trace. */
export type Finding<Found> = { trace: LedgerTrace; from: number; found: Found };

export type LedgerPart<Found> = {
  /** Those of these traces, which grew, that it has to see from their start on: something of the trace itself changed. */
  findStale?(tx: PoolClient, userId: string, traces: LedgerTrace[]): Promise<Set<string>>;
  begin(trace: LedgerTrace, from: number): TraceReader<Found>;
  /** Replaces the rows of these traces at positions >= from; each trace has its own `from`. They are none of a deleted trace. */
  write(tx: PoolClient, userId: string, traces: Finding<Found>[]): Promise<ColumnsByTrace>;
  /** Deletes the rows of deleted traces. Columns of others may change with that, as those of a trace that these started. */
  remove(tx: PoolClient, userId: string, traceIds: string[]): Promise<ColumnsByTrace | undefined>;
};
