import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { pool, type Queryable } from "#lib/db/client";
import { env } from "#lib/env";
import { log } from "#lib/log";
import { countForward } from "#lib/observability/metrics";
import { PrivateAddressError } from "#lib/telemetry/addresses";
import { sendReport } from "#lib/telemetry/delivery";
import { post, type SinkAnswer } from "#lib/telemetry/post";
import { loadReport } from "#lib/telemetry/report";
import { readSink, type Sink } from "#lib/telemetry/sink";
import { disableSink, isOpen, pauseSink } from "#lib/telemetry/sink-state";

/** For the try before the answer, with all that belongs to it; the contract's. */
const firstTryMs = 1500;
/** Tries of one web process at once: what comes beyond them is left to the worker. */
const firstTriesAtOnce = 16;
const triesAtOnce = 4;
const tryMs = 10_000;
/** How long a row is its taker's. It is above what a try may take, so that no two take it at once. */
const leaseSeconds = 30;
const expireDays = 3;
const backoff = { firstSeconds: 10, maxSeconds: 3600 };
const wait = { minSeconds: 1, maxSeconds: 6 * 3600 };

type Row = { reportId: string; attempts: number };

/** What becomes of a row behind a try. */
type Verdict = { outcome: "delivered" | "dropped" | "disabled" | "later"; why: string; pauseSeconds?: number };

let firstTries = 0;

/**
 * Puts a submission into the outbox, inside its own transaction, where the environment has a sink.
 *
 * @returns what to call once the transaction is committed: it makes the one try that the client waits for, and says
 *   whether the sink answered 2xx to it.
 */
export async function putIntoOutbox(tx: Queryable, reportId: string): Promise<() => Promise<boolean>> {
  const sink = readSink(env());
  if (!sink) return async () => false;
  const now = await isOpen(tx, sink);
  await tx.query(
    `insert into forward_outbox (report_id, attempts, due_at) values ($1, $2, now() + make_interval(secs => $3))`,
    [reportId, now ? 1 : 0, now ? leaseSeconds : 0],
  );
  return now ? () => firstTry(sink, { reportId, attempts: 1 }) : async () => false;
}

async function firstTry(sink: Sink, row: Row): Promise<boolean> {
  if (firstTries >= firstTriesAtOnce) {
    await postpone(row.reportId, row.attempts, 0).catch(() => {}); // it waits for its lease to end, then
    return false;
  }
  firstTries += 1;
  const over = new AbortController();
  // Where the database is slow as well, the row waits for its lease to end, and the client for nothing.
  const late = sleep(firstTryMs, false, { signal: over.signal }).catch(() => false);
  const trying = attempt(sink, row, firstTryMs - 100).finally(() => {
    firstTries -= 1;
  });
  try {
    return await Promise.race([trying, late]);
  } catch (error) {
    log.warn({ err: error, reportId: row.reportId }, "a submission could not be forwarded at once");
    return false;
  } finally {
    over.abort();
  }
}

/**
 * Forwards what is due, a few submissions at a time, until nothing is or the sink wants no more.
 *
 * @param signal ends it between two tries. @returns how many were delivered
 */
export async function forwardDue(signal?: AbortSignal): Promise<number> {
  await expire();
  const sink = readSink(env());
  if (!sink) return 0;
  let delivered = 0;
  const loop = async () => {
    while (!signal?.aborted && (await isOpen(pool(), sink))) {
      const row = await claim();
      if (!row) return;
      if (await attempt(sink, row, tryMs)) delivered += 1;
    }
  };
  await Promise.all(Array.from({ length: triesAtOnce }, loop));
  return delivered;
}

/** Takes the row that is due for longest, if any, and counts the try. Nobody else gets it until the lease is over. */
async function claim(): Promise<Row | undefined> {
  const { rows } = await pool().query<Row>(
    `update forward_outbox set attempts = attempts + 1, due_at = now() + make_interval(secs => $1)
     where report_id = (select report_id from forward_outbox where due_at <= now() order by due_at limit 1
       for update skip locked)
     returning report_id as "reportId", attempts`,
    [leaseSeconds],
  );
  return rows[0];
}

/** Removes what waited for too long, and all of it where there is no sink any more. */
async function expire(): Promise<void> {
  const { rowCount } = await pool().query(
    "delete from forward_outbox where $1 or created_at < now() - make_interval(days => $2)",
    [readSink(env()) === undefined, expireDays],
  );
  if (!rowCount) return;
  countForward("expired", rowCount);
  log.warn({ expired: rowCount }, "submissions were not forwarded in their time, and are not any more");
}

/** One try of a row. @returns whether the sink answered 2xx, also where that could not be noted: it is sent again then */
async function attempt(sink: Sink, row: Row, timeoutMs: number): Promise<boolean> {
  const report = await loadReport(row.reportId);
  if (!report) return false; // its account was deleted meanwhile, and the row with it
  const { allowPrivate } = sink;
  const verdict = await sendReport(sink, report, (request) => post(request, { timeoutMs, allowPrivate })).then(
    verdictOf,
    (error: Error): Verdict => ({ outcome: "later", why: reasonOf(error) }),
  );
  const delivered = verdict.outcome === "delivered";
  countForward(verdict.outcome);
  try {
    await note(sink, row, verdict);
  } catch (error) {
    log.warn({ err: error, reportId: row.reportId }, "what came of forwarding a submission could not be noted");
  }
  return delivered;
}

/** What an answer means. A client's error is ours and stays one, but for those that a later time mends. */
export function verdictOf({ status, retryAfterSeconds }: SinkAnswer): Verdict {
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

/** The cause without its text, which may hold parts of the sink's address with its key. */
function reasonOf(error: Error & { code?: string }): string {
  return error instanceof PrivateAddressError ? error.message : `the request failed (${error.code ?? error.name})`;
}

async function note(sink: Sink, { reportId, attempts }: Row, verdict: Verdict): Promise<void> {
  const about = { reportId, attempts, why: verdict.why };
  if (verdict.outcome === "delivered") {
    log.info(about, "a submission was forwarded");
    await remove(reportId);
  } else if (verdict.outcome === "dropped") {
    log.warn(about, "a submission is not forwarded: the sink refuses it for good");
    await remove(reportId);
  } else if (verdict.outcome === "disabled") {
    log.error(about, "the telemetry sink is gone: nothing is forwarded until a restart or other settings");
    await disableSink(sink);
    await postpone(reportId, attempts, 0);
  } else {
    log.warn(about, "a submission is forwarded later");
    if (verdict.pauseSeconds) await pauseSink(sink, verdict.pauseSeconds);
    await postpone(reportId, attempts, verdict.pauseSeconds ?? backoffSeconds(attempts));
  }
}

async function remove(reportId: string): Promise<void> {
  await pool().query("delete from forward_outbox where report_id = $1", [reportId]);
}

/** Sets when a row is due; not where its lease was over and another counted a try of its own. */
async function postpone(reportId: string, attempts: number, seconds: number): Promise<void> {
  await pool().query(
    "update forward_outbox set due_at = now() + make_interval(secs => $3) where report_id = $1 and attempts = $2",
    [reportId, attempts, seconds],
  );
}

/** Twice as long after each try, at most an hour, and by chance between a half of it and the whole. */
export function backoffSeconds(attempts: number, chance = Math.random()): number {
  const whole = Math.min(backoff.maxSeconds, backoff.firstSeconds * 2 ** Math.min(attempts - 1, 30));
  return whole * (0.5 + chance / 2);
}
