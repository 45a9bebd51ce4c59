import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { requestSignal } from "#lib/core/current-request";
import { SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import { streamChunks } from "#lib/http/send-stream";
import { countMessages } from "#lib/messages/read-messages";
import { getTrace } from "#lib/traces/queries";
import type { Growth } from "#lib/traces/schema";
import { readStanding } from "#lib/traces/standing";

export async function readGrowth(userId: string, traceId: string, after: number): Promise<Growth> {
  const trace = await getTrace(userId, traceId);
  const [messages, standing] = await Promise.all([
    countMessages(userId, traceId, { after }),
    readStanding(userId, trace),
  ]);
  return { messages, ...standing };
}

const lookMs = 500;
/** A session that stops being live sends nothing, and a deleted one neither. */
const readMs = 15_000;
/** The browser then asks again, with the sign-in that it has by then. */
const streamMs = 60_000;

const streams = () =>
  oncePerProcess(
    "growth streams",
    () => new FairQueue(Number.POSITIVE_INFINITY, { perUser: limits.traces.growthStreams }),
  );

/**
 * Server-sent events, one at once and one after each change.
 *
 * @returns undefined if the user has too many
 * @throws as `readGrowth`
 */
export async function streamGrowth(
  userId: string,
  traceId: string,
  after: number,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const gone = requestSignal();
  gone?.throwIfAborted();
  const end = streams().takeFree(userId);
  if (!end) return undefined;
  // Next neither reads nor cancels it if the client is gone before.
  gone?.addEventListener("abort", end, { once: true });
  try {
    const known = await readLast(userId, traceId);
    const first = await readGrowth(userId, traceId, after);
    return streamChunks(watchGrowth(userId, traceId, after, { first, known }), () => {}, end);
  } catch (error) {
    end();
    throw error;
  }
}

async function* watchGrowth(
  userId: string,
  traceId: string,
  after: number,
  { first, known: before }: { first: Growth; known: number | undefined },
): AsyncGenerator<Uint8Array, undefined> {
  const signal = requestSignal();
  const encoder = new TextEncoder();
  const toEvent = (growth: string) => encoder.encode(`data: ${growth}\n\n`);
  const until = performance.now() + streamMs;
  let sent = JSON.stringify(first);
  let known = before;
  let readAt = performance.now();
  yield encoder.encode("retry: 500\n");
  yield toEvent(sent);
  while (performance.now() < until) {
    await sleep(lookMs, undefined, signal && { signal });
    const last = await readLast(userId, traceId);
    if (last === known && performance.now() - readAt < readMs) continue;
    [known, readAt] = [last, performance.now()];
    const growth = await readGrowth(userId, traceId, after).catch((error) => {
      if (!(error instanceof SpoorError)) throw error;
    });
    if (!growth) return undefined;
    const now = JSON.stringify(growth);
    // A comment keeps proxies from closing the connection.
    yield now === sent ? encoder.encode(":\n\n") : toEvent(now);
    sent = now;
  }
  return undefined;
}

async function readLast(userId: string, traceId: string): Promise<number | undefined> {
  const last = await prisma().message.findFirst({
    where: { userId, traceId },
    orderBy: { position: "desc" },
    select: { position: true },
  });
  return last?.position;
}
