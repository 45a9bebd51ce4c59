import "server-only";
import { availableParallelism } from "node:os";
import { FairQueue } from "#lib/concurrency/fair-queue";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { requestSignal } from "#lib/current-request";
import { sha256 } from "#lib/digest";
import { SpoorError } from "#lib/errors";
import { log } from "#lib/log";
import { atRest } from "#lib/memory";
import type { Operations } from "./operations";
import { Recent } from "./recent";
import { DrawingThread } from "./thread";

type Input<O extends keyof Operations> = Parameters<Operations[O]>[0];
type DrawingResult<O extends keyof Operations> = Awaited<ReturnType<Operations[O]>>;

/** One core is left to what answers requests, and each thread has its own grammars. */
const maxThreads = Math.min(2, Math.max(1, availableParallelism() - 1));
/** How many pages and folds of a turn may wait. */
const maxWaiting = 50;
const recentBytes = 32 * 1024 * 1024;
/** After it, what nobody asked for again is dropped: its session may be deleted by now. */
const recentMs = 10 * 60_000;

/** The user whose messages are drawn, and for whom. */
type Turn = { userId: string; kind: "own" | "shared" };

type Drawing = { queue: FairQueue; idle: DrawingThread[]; recent: Recent<unknown>; isWarm: boolean };

const drawing = oncePerProcess(
  "drawing threads",
  (): Drawing => ({
    queue: new FairQueue(maxThreads, { perUser: 1 }),
    idle: [],
    recent: new Recent(recentBytes, recentMs),
    isWarm: false,
  }),
);

/**
 * Draws messages on a thread, so that the process answers everybody else meanwhile; what was drawn lately is remembered by
 * its content. If all threads are in use it waits, in turns with the others.
 *
 * @param turn whose turn it takes. A user has one thread at a time, in turns with all readers of the user's shared sessions.
 * @param read reads what is to be drawn, once it is its turn: what waits takes no memory.
 * @returns undefined where there is nothing to draw
 * @throws SpoorError `overloaded` where too many wait in this turn already
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
    recent.set(key, result, countResultBytes(result));
    return result;
  } finally {
    giveBack();
  }
}

/**
 * Starts a thread and has it draw something, unless there is one: for a page from which people come to their
 * sessions, so that the first session of a process need not wait for it.
 */
export async function warmUp(): Promise<void> {
  const state = drawing;
  if (state.isWarm) return;
  state.isWarm = true;
  const giveBack = await state.queue.take("nobody");
  await onThread("sample", { whose: { sharedAt: "/" }, zone: "UTC" })
    .catch((error) => log.warn({ err: error }, "a drawing thread could not be warmed up"))
    .finally(giveBack);
}

/** V8 keeps two bytes a character where one of them is not Latin. */
const countResultBytes = (result: DrawingResult<keyof Operations>) =>
  2 * ((typeof result === "string" ? result : result?.html) ?? "").length;

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

/** Ends the idle threads, each of which has grammars of its own. */
async function endDrawing(): Promise<void> {
  drawing.isWarm = false;
  await Promise.all(drawing.idle.splice(0).map((thread) => thread.terminate()));
}
