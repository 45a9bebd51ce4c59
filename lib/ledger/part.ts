import "server-only";
import type { PoolClient } from "pg";
import type { Trace } from "#lib/generated/prisma/client";

/** `projectId` is the stored one until the projects part has set it. */
export type LedgerTrace = Pick<
  Trace,
  | "userId"
  | "id"
  | "source"
  | "sourceId"
  | "model"
  | "title"
  | "derivedTitle"
  | "project"
  | "machine"
  | "createdAt"
  | "activityAt"
  | "storedAt"
  | "projectId"
> & { metadata: Record<string, unknown> | null };

/** For messages over 1 MiB, only the start of the content, and only the metadata that usage is read from. */
export type LedgerMessage = {
  position: number;
  role: string | null;
  content: string;
  tokenCount: number | null;
  createdAt: Date | null;
  metadata: Record<string, unknown> | null;
};

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
  | "shortTitle"
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
  ledgerDue: true;
};

/** Nothing is committed while an upload locks one of the relatives. */
export type ColumnsByTrace = Map<string, Partial<DerivedColumns>>;

export type TraceReader<Found> = {
  see(message: LedgerMessage): void;
  /**
   * Position from which messages must be read again when the trace grows; one more than 1000 messages back is not kept.
   * @param position start of another part's re-read, which must not split what this part reads as a whole
   */
  openFrom?(position: number): number | undefined;
  found(): Found;
};

/** `from` 0 means the whole trace. */
export type Finding<Found> = { trace: LedgerTrace; from: number; found: Found };

export type LedgerPart<Found> = {
  /** Grown traces that must be read from the start because a field of the trace changed. */
  findStale?(tx: PoolClient, userId: string, traces: LedgerTrace[]): Promise<Set<string>>;
  begin(trace: LedgerTrace, from: number): TraceReader<Found>;
  write(tx: PoolClient, userId: string, traces: Finding<Found>[]): Promise<ColumnsByTrace>;
  remove(tx: PoolClient, userId: string, traceIds: string[]): Promise<ColumnsByTrace | undefined>;
};
