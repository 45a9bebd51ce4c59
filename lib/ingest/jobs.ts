import "server-only";
import { z } from "zod";
import { notFound } from "#lib/core/errors";
import { prisma } from "#lib/db/client";
import type { Prisma } from "#lib/generated/prisma/client";
import { incompleteTrace, type jobResponse, jobStatus, keptTrace, openStatuses } from "#lib/ingest/schema";
import { getShownTitle } from "#lib/transcript/titles/choose-title";

export type Job = z.input<typeof jobResponse>;

export type ListedJob = Omit<Job, "kept"> & {
  machine: string;
  kept: KeptReasons | null;
  isUploadStored: boolean;
};

export type KeptTrace = z.output<typeof keptTrace>;

/** Null for a job of an earlier version. */
type KeptReasons = { deleted: number; newer: number; shorter: number };

export type JobFilter = "waiting" | "failed";

const filterStatuses = { waiting: openStatuses, failed: ["failed"] } as const;

const incompleteTraces = z.array(incompleteTrace);
const keptTraces = z.array(keptTrace);

const columns = {
  id: true,
  status: true,
  attempts: true,
  createdAt: true,
  startedAt: true,
  finishedAt: true,
  bytes: true,
  tracesReceived: true,
  tracesCreated: true,
  tracesUpdated: true,
  tracesUnchanged: true,
  tracesKept: true,
  tracesIncomplete: true,
  messagesReceived: true,
  messagesWritten: true,
  errorCode: true,
  errorMessage: true,
} satisfies Prisma.IngestJobSelect;

const listedColumns = {
  ...columns,
  machine: true,
  keptDeleted: true,
  keptNewer: true,
  keptShorter: true,
  upload: { select: { removedAt: true } },
} satisfies Prisma.IngestJobSelect;

export async function getJob(userId: string, jobId: string): Promise<Job> {
  const row = await prisma().ingestJob.findUnique({
    where: { userId_id: { userId, id: jobId } },
    select: { ...columns, incomplete: true, kept: true },
  });
  if (!row) throw notFound();
  const { incomplete, kept } = row;
  return {
    ...present(row),
    ...(incomplete && { incomplete: incompleteTraces.parse(incomplete) }),
    ...(kept && { kept: keptTraces.parse(kept) }),
  };
}

export async function getListedJob(userId: string, jobId: string): Promise<ListedJob & { keptTraces: KeptTrace[] }> {
  const row = await prisma().ingestJob.findUnique({
    where: { userId_id: { userId, id: jobId } },
    select: { ...listedColumns, kept: true },
  });
  if (!row) throw notFound();
  return { ...presentListed(row), keptTraces: keptTraces.parse(row.kept ?? []) };
}

/** @param page.before the id after which the page begins */
export async function listJobs(
  userId: string,
  page: { filter?: JobFilter | undefined; before?: string | undefined; limit: number },
): Promise<ListedJob[]> {
  const rows = await prisma().ingestJob.findMany({
    where: {
      userId,
      ...(page.before && { id: { lt: page.before } }),
      ...(page.filter && { status: { in: [...filterStatuses[page.filter]] } }),
    },
    orderBy: { id: "desc" },
    take: page.limit,
    select: listedColumns,
  });
  return rows.map(presentListed);
}

export async function countJobs(userId: string): Promise<{ queued: number; running: number; failed: number }> {
  const groups = await prisma().ingestJob.groupBy({
    by: ["status"],
    where: { userId, status: { in: [...openStatuses, "failed"] } },
    _count: true,
  });
  return { queued: 0, running: 0, failed: 0, ...Object.fromEntries(groups.map((one) => [one.status, one._count])) };
}

export async function hasOpenJobs(): Promise<boolean> {
  const open = await prisma().ingestJob.findFirst({
    where: { status: { in: [...openStatuses] } },
    select: { id: true },
  });
  return open !== null;
}

export type WrittenSession = { id: string; title: string };

export async function listWrittenSessions(userId: string, jobId: string, max: number): Promise<WrittenSession[]> {
  const job = await prisma().ingestJob.findUnique({
    where: { userId_id: { userId, id: jobId } },
    select: { writtenTraceIds: true },
  });
  const traces = await prisma().trace.findMany({
    where: { userId, id: { in: job?.writtenTraceIds ?? [] }, deletedAt: null },
    orderBy: { id: "asc" },
    take: max,
    select: { id: true, customTitle: true, shortTitle: true, title: true, derivedTitle: true, sourceId: true },
  });
  return traces.map((trace) => ({ id: trace.id, title: getShownTitle(trace) ?? trace.sourceId }));
}

function presentListed(row: Prisma.IngestJobGetPayload<{ select: typeof listedColumns }>): ListedJob {
  const { keptDeleted: deleted, keptNewer: newer, keptShorter: shorter } = row;
  const isRecorded = deleted !== null && newer !== null && shorter !== null;
  return {
    ...present(row),
    machine: row.machine,
    kept: isRecorded ? { deleted, newer, shorter } : null,
    isUploadStored: row.upload?.removedAt === null,
  };
}

function present(row: Prisma.IngestJobGetPayload<{ select: typeof columns }>): Job {
  return {
    ok: true,
    jobId: row.id,
    status: jobStatus.parse(row.status),
    attempts: row.attempts,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    bytes: row.bytes,
    traces: {
      received: row.tracesReceived,
      created: row.tracesCreated,
      updated: row.tracesUpdated,
      unchanged: row.tracesUnchanged,
      kept: row.tracesKept,
      incomplete: row.tracesIncomplete,
    },
    messages: { received: row.messagesReceived, written: row.messagesWritten },
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? "" },
  };
}
