import "server-only";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import type { Room } from "#lib/http/body";
import { BodyBudget } from "#lib/ingest/accept/body-budget";

const { ingest } = limits;

const bodies = oncePerProcess("bodies", () => new BodyBudget(ingest.maxInFlightBytes));

/** @throws SpoorError `overloaded` if the budget is used up or the sender has too many queued uploads */
export function admitted<T>(userId: string, bytes: number, work: (room: Room) => Promise<T>): Promise<T> {
  return withRoom(userId, bytes, async (room) => {
    await refuseLongQueue(userId);
    return work(room);
  });
}

/** For a body that no job processes. */
export function withRoom<T>(userId: string, bytes: number, work: (room: Room) => Promise<T>): Promise<T> {
  return bodies.withRoom(userId, bytes, work);
}

/** Counted in the database at most once a second. */
export class QueueLengths {
  readonly #counted = new Map<string, { jobs: number; countedAt: number }>();
  readonly #places = new Map<string, number>();
  readonly #count: (userId: string) => Promise<number>;
  readonly #now: () => number;

  /** @param now the time in milliseconds */
  constructor(count: (userId: string) => Promise<number>, now: () => number = () => performance.now()) {
    this.#count = count;
    this.#now = now;
  }

  get size(): number {
    return this.#counted.size;
  }

  async add(userId: string, max: number): Promise<boolean> {
    this.#evictStale();
    const counted = this.#counted.get(userId) ?? { jobs: await this.#count(userId), countedAt: this.#now() };
    if (counted.jobs >= max) {
      this.#counted.delete(userId);
      return false;
    }
    this.#takePlace(userId, counted.jobs);
    counted.jobs += 1;
    // The map stays in order of `countedAt`.
    if (this.#counted.get(userId) !== counted) this.#counted.delete(userId);
    this.#counted.set(userId, counted);
    return true;
  }

  /** Senders take turns, and one sender's uploads stay in order. */
  getPlace(userId: string): number {
    return this.#places.get(userId) ?? 0;
  }

  #takePlace(userId: string, queued: number): void {
    const place = queued === 0 ? 0 : Math.max(queued, this.getPlace(userId));
    this.#places.delete(userId);
    if (place > 0) this.#places.set(userId, place);
    const [oldest] = this.#places.keys();
    if (this.#places.size > maxPlaces && oldest !== undefined) this.#places.delete(oldest);
  }

  #evictStale(): void {
    const oldest = this.#now() - freshMs;
    for (const [userId, { countedAt }] of this.#counted) {
      if (countedAt > oldest) return;
      this.#counted.delete(userId);
    }
  }
}

const freshMs = 1000;
/** A forgotten sender begins at 0. */
const maxPlaces = 10_000;

const queueLengths = new QueueLengths((userId) =>
  prisma().ingestJob.count({ where: { userId, status: "queued" }, take: ingest.maxQueuedJobsPerUser }),
);

export const placeInQueue = ({ userId }: { userId: string }): number => queueLengths.getPlace(userId);

async function refuseLongQueue(userId: string): Promise<void> {
  if (await queueLengths.add(userId, ingest.maxQueuedJobsPerUser)) return;
  throw new SpoorError("overloaded", "Too many of your uploads are queued. Nothing was read; try again.", {
    retryAfterSeconds: 30,
  });
}
