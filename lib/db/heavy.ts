// Heavy reads take longer the more a user has stored; the glossary in docs/architecture.md lists them.
import "server-only";
import type pg from "pg";
import { FairQueue } from "#lib/concurrency/fair-queue";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { requestSignal } from "#lib/current-request";
import { pool, type Settings, snapshot } from "#lib/db/client";
import { isOverload, SpoorError } from "#lib/errors";
import { limits } from "#lib/limits";

const { heavyPerUser, maxLongWaitingPerUser, maxWaitSeconds, maxWaitingPerUser } = limits.reads;

/**
 * The share of the pool that heavy reads may hold together, at least one connection. All other statements take milliseconds
 * (keys, one page of a list), so the rest is always free for them in time: sign-in, accept and health never wait for a heavy
 * read, whoever starts how many.
 */
const share = 1 / 2;

/** Reads that take many turns, for as long as their client takes what is sent: how many of a user's run at a time. */
const longReads = {
  export: { perUser: limits.reads.exportsPerUser },
  answer: { perUser: limits.reads.longAnswersPerUser },
  outline: { perUser: limits.reads.outlinesPerUser },
  // Of what a user shared, for whoever has a link.
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

/**
 * Whether a caller is refused after `maxWaitSeconds`, or waits until its client is gone: for the turns of a read that
 * `beginRead` counts, of which a user has a few.
 */
export type Patience = "refuse" | "wait";

/**
 * A turn of a user's heavy reads, which wait for each other and never others' for them. It must not be taken inside another.
 *
 * @throws SpoorError `overloaded` where it takes too long, or too many wait already; AbortError where the client is gone
 */
export async function heavyTurn<T>(userId: string, work: () => Promise<T>, patience: Patience = "refuse"): Promise<T> {
  const detail = "Too many searches, exports and counts are running. Try again when yours have ended.";
  const giveBack = await takeTurn(queues().reads, userId, patience, detail);
  try {
    return await work();
  } finally {
    giveBack();
  }
}

/**
 * A heavy read: a turn, and in it a snapshot (lib/db/client.ts) whose statements end in time, and with the request.
 *
 * @param options.seconds how long a statement may take, where that is less than usual.
 * @throws as `heavyTurn`, and SpoorError `overloaded` for a statement that takes too long
 */
export function heavyRead<T>(
  userId: string,
  work: (tx: pg.PoolClient) => Promise<T>,
  { patience, seconds }: { patience?: Patience | undefined; seconds?: number } = {},
): Promise<T> {
  const settings: Settings = seconds === undefined ? {} : { statement_timeout: `${seconds}s` };
  const read = () => snapshot(work, settings, requestSignal()).catch(refuseLate);
  return heavyTurn(userId, read, patience);
}

/**
 * Begins one of a user's exports, long answers or outlines.
 *
 * @returns what ends it; so does the end of the request.
 * @throws as `heavyTurn`; an outline, whose page is being sent, waits as long as its client does
 */
export async function beginRead(userId: string, kind: LongRead): Promise<() => void> {
  const detail = `Other ${kind === "sharedOutline" ? "outline" : kind}s of yours are running. Wait until one has ended.`;
  const patience = kind === "outline" || kind === "sharedOutline" ? "wait" : "refuse";
  if (hasTooMany(userId, kind)) throw refusal(detail);
  const end = await takeTurn(queues()[kind], userId, patience, detail);
  const gone = requestSignal();
  gone?.addEventListener("abort", end, { once: true });
  if (gone?.aborted) end(); // in the moment of its turn
  gone?.throwIfAborted();
  return end;
}

/** Whether so many of a user's long reads wait that another one would be refused. */
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
