// `masking_task` lists what is left, so that an interrupted run continues.
import "server-only";
import type { PoolClient } from "pg";
import { Pauses } from "#lib/core/concurrency/pauses";
import { log } from "#lib/core/log";
import { prisma, transaction } from "#lib/db/client";
import type { Masking } from "#lib/ingest/decode/stored-masking";
import { type Decoder, onThread } from "#lib/ingest/decode/thread-pool";
import {
  deleteTasks,
  lockTrace,
  type MaskableTrace,
  readMessagesAfter,
  readTasks,
  type Tasks,
  writeMessages,
  writeTrace,
} from "#lib/ingest/masking/sql";
import { cleanUploads } from "#lib/ingest/masking/uploads";
import { deleteRemoved } from "#lib/ingest/raw/sql";
import type { MaskingPolicy } from "#lib/masking/masker";
import { readPolicy } from "#lib/masking/policy";
import { pingDatabase } from "#lib/observability/sql";
import { forgetTerms } from "#lib/search/index/purge";

/** The uploads and the index are searched once for all of them. */
const tracesAtOnce = 100;

const failed = { users: new Pauses(), traces: new Pauses(), uploads: new Pauses() };

/** Tasks that wait only for uploads that can't be read now. */
const waiting = new Map<string, Tasks>();

/** A failure is retried later and affects no other user. @throws if the database is away */
export async function maskStored(seconds: number): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  let done = 0;
  const users = await prisma().maskingTask.groupBy({ by: ["userId"], _count: true, _max: { createdAt: true } });
  for (const userId of waiting.keys()) if (!users.some((one) => one.userId === userId)) waiting.delete(userId);
  for (const { userId, _count, _max } of users) {
    if (performance.now() >= deadline) break;
    if (!failed.users.isOver(userId) || isWaiting(userId, _count, _max.createdAt)) continue;
    try {
      done += await maskSome(userId, deadline);
      failed.users.end(userId);
    } catch (error) {
      await pingDatabase();
      log.warn({ err: error, userId }, "masking a user's stored secrets failed; it is retried later");
      failed.users.begin(userId);
    }
  }
  return done;
}

function isWaiting(userId: string, count: number, newest: Date | null): boolean {
  const tasks = waiting.get(userId);
  if (!tasks || failed.uploads.isOver(userId)) return false;
  return count === tasks.size && [...tasks.values()].some((createdAt) => createdAt.getTime() === newest?.getTime());
}

async function maskSome(userId: string, deadline: number): Promise<number> {
  const left = waiting.get(userId) ?? new Map<string, Date>();
  const tasks = await readTasks(userId, tracesAtOnce, left, failed.traces.current());
  if (tasks.size === 0 && (left.size === 0 || !failed.uploads.isOver(userId))) return 0;
  const policy = await readPolicy(userId);
  const { masked, keys } = await maskTraces(userId, tasks, policy, deadline);
  const isClean = await cleanUploads(userId, policy, keys);
  await deleteRemoved(userId).catch((error) => log.info({ err: error }, "housekeeping deletes the masked uploads"));
  if (masked.size > 0 && !(await forgetTerms(userId, [...masked.keys()]))) return 0;
  const done = new Map([...left, ...masked]);
  if (!isClean) {
    waiting.set(userId, done);
    if (failed.uploads.isOver(userId)) failed.uploads.begin(userId);
    return 0;
  }
  waiting.delete(userId);
  failed.uploads.end(userId);
  await deleteTasks(userId, done);
  return done.size;
}

async function maskTraces(userId: string, tasks: Tasks, policy: MaskingPolicy, deadline: number) {
  const masked = new Map<string, Date>();
  const keys = new Set<string>();
  for (const [traceId, createdAt] of tasks) {
    if (masked.size > 0 && performance.now() >= deadline) break;
    try {
      const trace = await maskTrace(userId, traceId, policy);
      if (trace) keys.add(JSON.stringify([trace.source, trace.sourceId]));
      masked.set(traceId, createdAt);
      failed.traces.end(traceId);
    } catch (error) {
      await pingDatabase();
      log.warn({ err: error, trace: traceId }, "a session could not be masked; it is retried later");
      failed.traces.begin(traceId);
    }
  }
  return { masked, keys };
}

/** A message of hundreds of megabytes takes minutes. @returns the former trace; undefined if it is deleted */
const maskTrace = (userId: string, traceId: string, policy: MaskingPolicy): Promise<MaskableTrace | undefined> =>
  onThread(userId, (thread) =>
    transaction(
      async (tx) => {
        const trace = await lockTrace(tx, userId, traceId);
        if (!trace) return undefined;
        const messages = await maskMessages(tx, { userId, traceId }, thread, { policy, trace });
        const { source, sourceId, machine, ...texts } = trace;
        let own = await thread.call("maskTexts", texts);
        if (own.hasEchoes) {
          const more = await maskMessages(tx, { userId, traceId }, thread);
          messages.changed += more.changed;
          messages.moreBytes += more.moreBytes;
          own = await thread.call("maskTexts", texts);
        }
        if (messages.changed > 0 || own.isChanged) {
          const masked = { source, sourceId, machine, ...own.texts } as MaskableTrace;
          const changes = { messages: messages.changed > 0, fields: own.isChanged, moreBytes: messages.moreBytes };
          await writeTrace(tx, userId, traceId, masked, changes);
        }
        return trace;
      },
      { idle_in_transaction_session_timeout: "60s" },
    ),
  );

type TraceKey = { userId: string; traceId: string };

/** @param begun the trace, in the first pass; the second searches for secrets that the first masked */
async function maskMessages(tx: PoolClient, { userId, traceId }: TraceKey, thread: Decoder, begun?: Masking) {
  const sums = { changed: 0, moreBytes: 0 };
  let after = -1;
  for (let first = begun; ; first = undefined) {
    const messages = await readMessagesAfter(tx, userId, traceId, after);
    const { changed, moreBytes } = await thread.call("mask", { messages, ...(first && { begun: first }) });
    await writeMessages(tx, userId, traceId, changed);
    sums.changed += changed.length;
    sums.moreBytes += moreBytes;
    const last = messages.at(-1);
    if (!last) return sums;
    after = last.position;
  }
}
