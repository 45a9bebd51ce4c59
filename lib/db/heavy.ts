// docs/architecture.md lists the heavy reads.
import "server-only";
import type pg from "pg";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { requestSignal } from "#lib/core/current-request";
import { isOverload, SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { pool, type Settings, snapshot } from "#lib/db/client";

const { heavyPerUser, maxLongWaitingPerUser, maxWaitSeconds, maxWaitingPerUser } = limits.reads;

/** Sign-in, accept and health must never wait for a heavy read. */
const share = 1 / 2;

/** These last as long as their client takes what is sent. */
const longReads = {
  export: { perUser: limits.reads.exportsPerUser },
  answer: { perUser: limits.reads.longAnswersPerUser },
  outline: { perUser: limits.reads.outlinesPerUser },
  // readers of a share link
  sharedOutline: { perUser: 1 },
};
type LongRead = keyof typeof longReads;

type Queues = { reads: FairQueue } & Record<LongRead, FairQueue>;

function queues(): Queues {
  return oncePerProcess("heavy reads", () => {
    const slots = Math.max(1, Math.floor(share * pool().options.max));
    return {
      // Three users with two reads each would make a fourth wait for one of five slots.
      reads: new FairQueue(slots, { perUser: heavyPerUser, kept: Math.ceil(slots / 3) }),
      export: new FairQueue(Number.POSITIVE_INFINITY, longReads.export),
      answer: new FairQueue(Number.POSITIVE_INFINITY, longReads.answer),
      outline: new FairQueue(Number.POSITIVE_INFINITY, longReads.outline),
      sharedOutline: new FairQueue(Number.POSITIVE_INFINITY, longReads.sharedOutline),
    };
  });
}

export type Patience = "refuse" | "wait";

/**
 * A user's heavy reads wait for each other, never for other users. Calls must not be nested.
 * @throws SpoorError `overloaded`; AbortError if the client is gone
 */
export async function heavyTurn<T>(userId: string, work: () => Promise<T>, patience: Patience = "refuse"): Promise<T> {
  const detail = "Too many searches, exports and counts are running. Try again when yours are done.";
  const giveBack = await takeTurn(queues().reads, userId, patience, detail);
  try {
    return await work();
  } finally {
    giveBack();
  }
}

export function heavyRead<T>(
  userId: string,
  work: (tx: pg.PoolClient) => Promise<T>,
  { patience, seconds }: { patience?: Patience | undefined; seconds?: number } = {},
): Promise<T> {
  const settings: Settings = seconds === undefined ? {} : { statement_timeout: `${seconds}s` };
  const read = () => snapshot(work, settings, requestSignal()).catch(refuseLate);
  return heavyTurn(userId, read, patience);
}

export async function beginRead(userId: string, kind: LongRead): Promise<() => void> {
  const detail = `Other ${kind === "sharedOutline" ? "outline" : kind}s of yours are running. Wait until one is done.`;
  const patience = kind === "outline" || kind === "sharedOutline" ? "wait" : "refuse";
  if (hasTooMany(userId, kind)) throw refusal(detail);
  const end = await takeTurn(queues()[kind], userId, patience, detail);
  const gone = requestSignal();
  gone?.addEventListener("abort", end, { once: true });
  if (gone?.aborted) end();
  gone?.throwIfAborted();
  return end;
}

export const hasTooMany = (userId: string, kind: LongRead): boolean =>
  queues()[kind].countWaiting(userId) >= maxLongWaitingPerUser;

const refusal = (detail: string) => new SpoorError("overloaded", detail, { retryAfterSeconds: maxWaitSeconds });

function refuseLate(error: unknown): never {
  throw isOverload(error) ? new SpoorError("overloaded") : error;
}

async function takeTurn(queue: FairQueue, userId: string, patience: Patience, detail: string): Promise<() => void> {
  const gone = requestSignal();
  if (patience === "wait") return queue.take(userId, gone);
  if (queue.countWaiting(userId) >= maxWaitingPerUser) throw refusal(detail);
  const late = AbortSignal.timeout(maxWaitSeconds * 1000);
  return queue.take(userId, gone ? AbortSignal.any([gone, late]) : late).catch((reason) => {
    throw gone?.aborted ? gone.reason : late.aborted ? refusal(detail) : reason;
  });
}
