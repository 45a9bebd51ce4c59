// Decides whether there is room for an upload, before any of its body is read.
import "server-only";
import { prisma } from "#lib/db/client";
import { SpoorError } from "#lib/errors";
import type { Room } from "#lib/http/body";
import { BodyBudget } from "#lib/ingest/accept/body-budget";
import { limits } from "#lib/limits";

const { ingest } = limits;

const globals = globalThis as typeof globalThis & { spoorBodies?: BodyBudget };

/**
 * Runs `work` with room for a body in the process's budget of bytes in flight.
 *
 * @param bytes the largest size that the body may turn out to have.
 * @throws SpoorError `overloaded` if the budget is used up or the sender has too many queued uploads.
 */
export function admitted<T>(userId: string, bytes: number, work: (room: Room) => Promise<T>): Promise<T> {
  return withRoom(userId, bytes, async (room) => {
    await refuseLongQueue(userId);
    return work(room);
  });
}

/** As `admitted`, for a body that no job processes. */
export function withRoom<T>(userId: string, bytes: number, work: (room: Room) => Promise<T>): Promise<T> {
  globals.spoorBodies ??= new BodyBudget(ingest.maxInFlightBytes);
  return globals.spoorBodies.withRoom(userId, bytes, work);
}

/** Queued uploads by sender: counted in the database at most once a second, with those admitted since added. */
export class QueueLengths {
  readonly #counted = new Map<string, { jobs: number; countedAt: number }>();
  readonly #count: (userId: string) => Promise<number>;
  readonly #now: () => number;

  /** @param count counts a user's queued jobs; @param now the time in milliseconds. */
  constructor(count: (userId: string) => Promise<number>, now: () => number = () => performance.now()) {
    this.#count = count;
    this.#now = now;
  }

  /** How many senders are remembered: those of the last second. */
  get size(): number {
    return this.#counted.size;
  }

  /** Adds one upload to a sender's queue. @returns false, with nothing added, if it already has `max` */
  async add(userId: string, max: number): Promise<boolean> {
    this.#evictStale();
    const counted = this.#counted.get(userId) ?? { jobs: await this.#count(userId), countedAt: this.#now() };
    if (counted.jobs >= max) {
      this.#counted.delete(userId);
      return false;
    }
    counted.jobs += 1;
    // Deleted first, so that the map stays in order of `countedAt`.
    if (this.#counted.get(userId) !== counted) this.#counted.delete(userId);
    this.#counted.set(userId, counted);
    return true;
  }

  /** The map is in order of time: eviction stops at the first fresh count. */
  #evictStale(): void {
    const oldest = this.#now() - freshMs;
    for (const [userId, { countedAt }] of this.#counted) {
      if (countedAt > oldest) return;
      this.#counted.delete(userId);
    }
  }
}

const freshMs = 1000;

const queueLengths = new QueueLengths((userId) =>
  prisma().ingestJob.count({ where: { userId, status: "queued" }, take: ingest.maxQueuedJobsPerUser }),
);

async function refuseLongQueue(userId: string): Promise<void> {
  if (await queueLengths.add(userId, ingest.maxQueuedJobsPerUser)) return;
  throw new SpoorError("overloaded", "Too many of your uploads are queued. Nothing was read; try again.", {
    retryAfterSeconds: 30,
  });
}
