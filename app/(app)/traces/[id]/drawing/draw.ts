import "server-only";
import { availableParallelism } from "node:os";
import { LRUCache } from "lru-cache";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { requestSignal } from "#lib/core/current-request";
import { sha256 } from "#lib/core/digest";
import { SpoorError } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { atRest } from "#lib/core/memory";
import type { Operations } from "./operations";
import { DrawingThread } from "./thread";

type Input<O extends keyof Operations> = Parameters<Operations[O]>[0];
type DrawingResult<O extends keyof Operations> = Awaited<ReturnType<Operations[O]>>;

/** Leaves one core to the requests; each thread has its own grammars. */
const maxThreads = Math.min(2, Math.max(1, availableParallelism() - 1));
const maxWaiting = 50;
const recentBytes = 32 * 1024 * 1024;
/** Unused drawings are dropped after this time, since their sessions may be deleted. */
const recentMs = 10 * 60_000;

export const makeRecentCache = <T extends object | string>(maxSize: number) =>
  new LRUCache<string, T>({
    maxSize,
    maxEntrySize: Math.floor(maxSize / 8),
    ttl: recentMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
  });

type Turn = { userId: string; kind: "own" | "shared" };

type Drawing = { queue: FairQueue; idle: DrawingThread[]; recent: LRUCache<string, object | string>; isWarm: boolean };

const drawing = oncePerProcess(
  "drawing threads",
  (): Drawing => ({
    queue: new FairQueue(maxThreads, { perUser: 1 }),
    idle: [],
    recent: makeRecentCache(recentBytes),
    isWarm: false,
  }),
);

/**
 * Recent drawings are cached by content.
 *
 * @param turn a user has one thread at a time, alternating with readers of their shared sessions
 * @param read runs when a thread is free, so that waiting requests take no memory
 * @returns undefined if there is nothing to draw
 * @throws SpoorError `overloaded` if too many wait
 */
export async function draw<O extends keyof Operations>(
  { userId, kind }: Turn,
  operation: O,
  read: () => Promise<Input<O> | undefined>,
): Promise<DrawingResult<O> | undefined> {
  const { queue, recent } = drawing;
  if (queue.countWaiting(userId, kind) >= maxWaiting) throw new SpoorError("overloaded");
  const giveBack = await queue.take(userId, requestSignal(), kind);
  try {
    const input = await read();
    if (!input) return undefined;
    const key = sha256(JSON.stringify([operation, input])).toString("base64");
    const known = recent.get(key) as DrawingResult<O> | undefined;
    if (known !== undefined) return known;
    drawing.isWarm = true;
    const result = await onThread(operation, input);
    if (result !== undefined) recent.set(key, result, { size: countResultBytes(result) });
    return result;
  } finally {
    giveBack();
  }
}

/** Makes the first session of a process open quickly. */
export async function warmUp(): Promise<void> {
  const state = drawing;
  if (state.isWarm) return;
  state.isWarm = true;
  const giveBack = await state.queue.take("nobody");
  await onThread("sample", { whose: { sharedAt: "/" }, zone: "UTC" })
    .catch((error) => log.warn({ err: error }, "a drawing thread could not be warmed up"))
    .finally(giveBack);
}

/** V8 uses two bytes per character if one of them is not Latin. */
const countResultBytes = (result: DrawingResult<keyof Operations>) =>
  1 + 2 * ((typeof result === "string" ? result : result?.html) ?? "").length;

async function onThread<O extends keyof Operations>(operation: O, input: Input<O>): Promise<DrawingResult<O>> {
  const { idle } = drawing;
  atRest(endDrawing);
  const known = idle.pop();
  const thread = known && !known.broken ? known : new DrawingThread();
  try {
    return await thread.run(operation, input);
  } finally {
    if (!thread.broken) idle.push(thread);
  }
}

async function endDrawing(): Promise<void> {
  drawing.isWarm = false;
  await Promise.all(drawing.idle.splice(0).map((thread) => thread.terminate()));
}
