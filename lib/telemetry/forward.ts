import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { env } from "#lib/core/env";
import { log } from "#lib/core/log";
import { prisma } from "#lib/db/client";
import type { Prisma } from "#lib/generated/prisma/client";
import { countForward } from "#lib/observability/counters";
import { PrivateAddressError } from "#lib/telemetry/addresses";
import { sendReport } from "#lib/telemetry/delivery";
import { post, type SinkAnswer } from "#lib/telemetry/post";
import { loadReport } from "#lib/telemetry/report";
import { disableSink, endFutureWaits, isOpen, pauseSink, readSink, type Sink } from "#lib/telemetry/sink";
import { claimOutboxRow, insertOutbox, type OutboxRow, postponeOutboxRow } from "#lib/telemetry/sql";

/** The client waits for this attempt. */
const firstAttemptMs = 1500;
/** Per web process; the worker forwards the rest. */
const maxFirstAttempts = 16;
const workerAttempts = 4;
const attemptMs = 10_000;
/** Longer than an attempt can take, so that no two run at once. */
const leaseSeconds = 30;
const expireDays = 3;
const backoff = { firstSeconds: 10, maxSeconds: 3600 };
const wait = { minSeconds: 1, maxSeconds: 6 * 3600 };

type DeliveryVerdict = { outcome: "delivered" | "dropped" | "disabled" | "later"; why: string; pauseSeconds?: number };

let firstAttempts = 0;

/**
 * Call it in the report's transaction.
 * @returns a function to call after the commit; it returns whether the sink answered 2xx
 */
export async function putIntoOutbox(tx: Prisma.TransactionClient, reportId: string): Promise<() => Promise<boolean>> {
  const sink = readSink(env());
  if (!sink) return async () => false;
  const open = await isOpen(sink, tx);
  await insertOutbox(tx, reportId, open ? 1 : 0, open ? leaseSeconds : 0);
  return open ? () => attemptFirst(sink, { reportId, attempts: 1 }) : async () => false;
}

async function attemptFirst(sink: Sink, row: OutboxRow): Promise<boolean> {
  if (firstAttempts >= maxFirstAttempts) {
    await postponeOutboxRow(row, 0).catch(() => {}); // then it becomes due when its lease ends
    return false;
  }
  firstAttempts += 1;
  const over = new AbortController();
  // The database may be slow, too; the row then becomes due when its lease ends.
  const late = sleep(firstAttemptMs, false, { signal: over.signal }).catch(() => false);
  const trying = attempt(sink, row, firstAttemptMs - 100).finally(() => {
    firstAttempts -= 1;
  });
  try {
    return await Promise.race([trying, late]);
  } catch (error) {
    log.warn({ err: error, reportId: row.reportId }, "the first attempt to forward a telemetry report failed");
    return false;
  } finally {
    over.abort();
  }
}

export async function forwardDue(signal?: AbortSignal): Promise<number> {
  await deleteExpired();
  const sink = readSink(env());
  if (!sink) return 0;
  let delivered = 0;
  const loop = async () => {
    while (!signal?.aborted && (await isOpen(sink))) {
      const row = await claimOutboxRow(leaseSeconds);
      if (!row) return;
      if (await attempt(sink, row, attemptMs)) delivered += 1;
    }
  };
  await Promise.all(Array.from({ length: workerAttempts }, loop));
  return delivered;
}

/** Makes reports due soon that were put off while the database's clock was ahead. */
export const undoFutureWaits = () => endFutureWaits(wait.maxSeconds + 300); // clocks of several nodes differ a little

/** Without a sink, deletes all rows. */
async function deleteExpired(): Promise<void> {
  const limit = new Date(Date.now() - expireDays * 86_400_000);
  const { count } = await prisma().forwardOutbox.deleteMany({
    where: readSink(env()) === undefined ? {} : { createdAt: { lt: limit } },
  });
  if (count === 0) return;
  countForward("expired", count);
  log.warn({ expired: count }, "telemetry reports expired before they could be forwarded");
}

/** If a 2xx can't be stored, the report is sent once more. */
async function attempt(sink: Sink, row: OutboxRow, timeoutMs: number): Promise<boolean> {
  const report = await loadReport(row.reportId);
  if (!report) return false; // its account was deleted meanwhile, and the row with it
  const { allowPrivate } = sink;
  const verdict = await sendReport(sink, report, (request) => post(request, { timeoutMs, allowPrivate })).then(
    judgeAnswer,
    (error: Error): DeliveryVerdict => ({ outcome: "later", why: describeFailure(error) }),
  );
  const delivered = verdict.outcome === "delivered";
  countForward(verdict.outcome);
  try {
    await storeVerdict(sink, row, verdict);
  } catch (error) {
    log.warn({ err: error, reportId: row.reportId }, "the result of forwarding a telemetry report could not be stored");
  }
  return delivered;
}

export function judgeAnswer({ status, retryAfterSeconds }: SinkAnswer): DeliveryVerdict {
  const why = `the sink answered ${status}`;
  if (status >= 200 && status < 300) return { outcome: "delivered", why };
  if (status === 410) return { outcome: "disabled", why };
  if (status === 429 || status === 503) {
    const seconds = Math.min(wait.maxSeconds, Math.max(wait.minSeconds, retryAfterSeconds ?? backoff.firstSeconds));
    return { outcome: "later", why, pauseSeconds: seconds };
  }
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) return { outcome: "dropped", why };
  return { outcome: "later", why };
}

/** Without its message, which may contain the sink's key. */
function describeFailure(error: Error & { code?: string }): string {
  return error instanceof PrivateAddressError ? error.message : `the request failed (${error.code ?? error.name})`;
}

async function storeVerdict(sink: Sink, row: OutboxRow, verdict: DeliveryVerdict): Promise<void> {
  const about = { reportId: row.reportId, attempts: row.attempts, why: verdict.why };
  if (verdict.outcome === "delivered") {
    log.info(about, "a telemetry report was forwarded");
    await deleteRow(row);
  } else if (verdict.outcome === "dropped") {
    log.warn(about, "a telemetry report was dropped: the sink rejected it");
    await deleteRow(row);
  } else if (verdict.outcome === "disabled") {
    log.error(
      about,
      "the telemetry sink answered 410 (gone): forwarding stops until a restart or a change of its settings",
    );
    await disableSink(sink);
    await postponeOutboxRow(row, 0);
  } else {
    log.warn(about, "forwarding a telemetry report failed; it is retried later");
    if (verdict.pauseSeconds) await pauseSink(sink, verdict.pauseSeconds);
    await postponeOutboxRow(row, verdict.pauseSeconds ?? backoffSeconds(row.attempts));
  }
}

async function deleteRow({ reportId }: OutboxRow): Promise<void> {
  await prisma().forwardOutbox.deleteMany({ where: { reportId } });
}

export function backoffSeconds(attempts: number, chance = Math.random()): number {
  const whole = Math.min(backoff.maxSeconds, backoff.firstSeconds * 2 ** Math.min(attempts - 1, 30));
  return whole * (0.5 + chance / 2);
}
