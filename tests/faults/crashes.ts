import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { jobsAtOnce } from "#lib/db/pool";
import type { Bench, Fault, Outcome } from "./fault.ts";
import type { SentTrace } from "./model.ts";
import { choosePoints, countPoints, findPointsOfJob } from "./points.ts";
import type { Break, SpoorProcess } from "./process.ts";
import type { Spoor } from "./spoor.ts";
import { seconds, until, waitForIndex } from "./wait.ts";

const getMax = (values: number[]) => values.reduce((max, value) => Math.max(max, value), 0);

/**
 * kill -9 of the web process at each point of one request, then the same request again with its key.
 *
 * @param makeTrace makes a request's trace: a large body is written in several steps while it is being read.
 */
async function killWeb(bench: Bench, makeTrace: () => SentTrace): Promise<Outcome> {
  return bench.withSpoor({ worker: {} }, async (spoor) => {
    const healthy = spoor.url;
    const again = async (broken: Break) => {
      const web = await spoor.startWeb({ broken });
      const brokenUrl = spoor.url;
      spoor.url = healthy;
      const key = randomUUID();
      const traces = [makeTrace()];
      const first = await spoor.send(traces, key, brokenUrl);
      return { web, key, traces, first };
    };
    const counting = await again({ point: 0 });
    expect(counting.first.status).toBe(202);
    const points = choosePoints(bench, countPoints(counting.web), 4);
    await counting.web.kill();
    let before = 0;
    let behind = 0;
    for (const point of points) {
      const { web, key, traces, first } = await again({ point });
      expect(first.status).toBeUndefined();
      expect((await web.ended()).signal).toBe("SIGKILL");
      const left = await until(5, "its transaction has ended", async () => {
        const { rowCount } = await spoor.db.query(
          `select 1 from pg_stat_activity where application_name = 'spoor' and datname = current_database()
             and state <> 'idle'`,
        );
        return rowCount === 0 && (await spoor.jobs()).filter((job) => job.key === key);
      });
      expect(left.length).toBeLessThanOrEqual(1);
      if (left.length === 0) before += 1;
      else behind += 1;
      const second = await spoor.send(traces, key);
      expect(second.status).toBe(202);
      if (left[0]) expect(second.jobId).toBe(left[0].id);
    }
    expect(before).toBeGreaterThan(0);
    expect(behind).toBeGreaterThan(0);
    const compared = await spoor.check({ inOrder: true });
    return {
      injected: `SIGKILL at ${points.length} points of a request: around each statement, and when the commit was answered`,
      outcome: `no job ${before} times, one job ${behind} times, never two; the retry under its key got that job; ${compared}`,
    };
  });
}

/** Batches with every case: a new trace, one unchanged, one grown, one edited, one shorter, one deleted. */
async function prepareCases(bench: Bench, spoor: Spoor, count: number): Promise<SentTrace[][]> {
  const cases = Array.from({ length: count }, () => {
    const [same, grown, rewritten, longer] = [bench.trace(3), bench.trace(3), bench.trace(3), bench.trace(5)];
    const before = [same, grown, rewritten, longer];
    const batch = [
      same,
      { ...grown, messages: [...grown.messages, ...bench.messages(40, 3, 2000)] },
      bench.trace(4, { sourceId: rewritten.sourceId, replace: true }),
      bench.trace(2, { sourceId: longer.sourceId }),
      bench.trace(6),
    ];
    return { before, batch };
  });
  for (const { before } of cases) await spoor.upload(before);
  await spoor.drained();
  await waitForIndex(spoor.db); // a worker that starts would index first, which has points of its own
  return cases.map(({ batch }) => batch);
}

const everyCase = { created: 1, updated: 2, unchanged: 1, kept: 1 };

/** kill -9 of a worker at each point of one job; healthy ones take over. */
async function killWorker(bench: Bench): Promise<Outcome> {
  return bench.withSpoor({ worker: false }, async (spoor) => {
    const counter = await spoor.startWorker({ environment: { WORKER_CONCURRENCY: "1" } });
    const [counted = [], ...batches] = await prepareCases(bench, spoor, bench.quick ? 9 : 90);
    await counter.kill();
    const counting = await spoor.startWorker({ broken: { point: 0 }, environment: { WORKER_CONCURRENCY: "1" } });
    const whole = await spoor.jobIs(await spoor.upload(counted), "succeeded");
    expect(whole.counts).toEqual(everyCase);
    await sleep(500); // the queue entry is completed after the job's commit
    const points = choosePoints(bench, findPointsOfJob(counting).at(-1)?.point ?? 0, 8);
    await counting.kill();
    expect(points.length).toBeLessThanOrEqual(batches.length);
    const jobs: string[] = [];
    for (const batch of batches.slice(0, points.length)) jobs.push(await spoor.upload(batch));
    await crashAll(spoor, points);
    const killedAt = performance.now();
    await spoor.startWorker();
    await spoor.drained(90);
    const tookMs = performance.now() - killedAt;
    const ended = (await spoor.jobs()).filter(({ id }) => jobs.includes(id));
    for (const { status, counts } of ended)
      expect({ status, counts }).toEqual({ status: "succeeded", counts: everyCase });
    const compared = await spoor.check({ inOrder: true });
    return {
      injected: `SIGKILL at ${points.length} points of a job: around each statement and COPY, and when a commit was answered`,
      outcome: `all processed again, the last ${seconds(tookMs)} after the last kill, at most ${getMax(ended.map(({ attempts }) => attempts))} attempts; ${compared}`,
    };
  });
}

/** Starts a worker for each point, some at once: each takes one job and dies at its point. */
async function crashAll(spoor: Spoor, points: number[]): Promise<void> {
  const waiting = [...points];
  const crash = async () => {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      const worker = await spoor.startWorker({ broken: { point }, environment: { WORKER_CONCURRENCY: "1" } });
      expect(await worker.ended()).toEqual({ code: null, signal: "SIGKILL" });
      expect(worker.brokenAt).toContain(`point ${point},`);
    }
  };
  await Promise.all([crash(), crash(), crash(), crash()]);
}

/** Workers stopped between and inside a job's transactions, resumed beside their replacement. */
async function stopWorker(bench: Bench): Promise<Outcome> {
  return bench.withSpoor({ worker: false }, async (spoor) => {
    const healthy = await spoor.startWorker();
    const batches = await prepareCases(bench, spoor, 7);
    await healthy.kill();
    const counting = await spoor.startWorker({ broken: { point: 0 }, environment: { WORKER_CONCURRENCY: "1" } });
    await spoor.jobIs(await spoor.upload(batches.shift() ?? []), "succeeded");
    await sleep(500);
    const passed = findPointsOfJob(counting);
    await counting.kill();
    const behind = (start: string) => {
      const found = passed.find(({ label }) => label.startsWith(start));
      if (!found) throw new Error(`A job has no step that begins with "${start}"`);
      return found.point;
    };
    const succeeded = behind("update ingest_job set status = 'succeeded'");
    // After the claim nothing is locked; in the middle of the merge everything is; at the end only the queue is updated.
    const inside = [behind("copy message"), succeeded, succeeded + 1]; // the last is before the commit
    const points = [behind("update ingest_job job"), ...inside, behind("WITH results AS")];
    const stopped: SpoorProcess[] = [];
    const jobs: string[] = [];
    for (const [at, point] of points.entries()) {
      const worker = await spoor.startWorker({
        broken: { point, signal: "SIGSTOP" },
        environment: { WORKER_CONCURRENCY: "1" },
      });
      jobs.push(await spoor.upload(batches[at] ?? []));
      await until(10, "the worker is stopped", () => worker.isStopped());
      stopped.push(worker);
    }
    const stoppedAt = performance.now();
    await spoor.startWorker();
    await spoor.drained(90);
    const replacedMs = performance.now() - stoppedAt;
    await sleep(Math.max(0, 120_000 - replacedMs));
    const stoppedMs = performance.now() - stoppedAt;
    const before = await written(spoor);
    for (const worker of stopped) worker.signal("SIGCONT");
    await sleep(8000);
    expect(await written(spoor)).toEqual(before);
    for (const worker of stopped) expect(worker.isAlive, worker.output.slice(-1500)).toBe(true);
    const another = await spoor.upload([bench.trace(2)]);
    await spoor.jobIs(another, "succeeded", 10);
    const compared = await spoor.check({ inOrder: true });
    return {
      injected: `SIGSTOP of ${points.length} workers inside their jobs for ${seconds(stoppedMs)}, then SIGCONT beside another`,
      outcome: `done by the other within ${seconds(replacedMs)}; the resumed ones wrote nothing and continued to work; ${compared}`,
    };
  });
}

/** Everything that a job writes, including the rows' versions. */
async function written(spoor: Spoor): Promise<unknown> {
  const { rows } = await spoor.db.query(
    `select (select jsonb_agg(jsonb_build_array(xmin::text, trace.id, message_count) order by trace.id) from trace) as traces,
       (select md5(string_agg(xmin::text || position || content, ',' order by trace_id, position)) from message) as messages,
       (select jsonb_agg(jsonb_build_array(id, status, attempts) order by id) from ingest_job) as jobs`,
  );
  return rows[0];
}

/** An upload that kills its worker at every attempt, among others. */
async function poison(bench: Bench): Promise<Outcome> {
  return bench.withSpoor({ worker: false }, async (spoor) => {
    const worker = await spoor.startWorker({ broken: { text: "poison-pill" }, kept: true });
    const startedAt = performance.now();
    const jobId = await spoor.upload([bench.trace(2, { sourceId: "poison-pill" })]);
    const healthy: string[] = [];
    while ((await spoor.job(jobId)).status !== "failed") {
      if (performance.now() - startedAt > 240_000) throw new Error("the job has not failed within 240 s");
      healthy.push(await spoor.upload([bench.trace(2)]));
      await sleep(2000);
    }
    const failedMs = performance.now() - startedAt;
    const { attempts } = await spoor.job(jobId);
    expect({ attempts, restarts: worker.restarts }).toEqual({ attempts: 5, restarts: 5 });
    const { rowCount } = await spoor.db.query("select 1 from upload where job_id = $1", [jobId]);
    expect(rowCount).toBe(1);
    const compared = await spoor.check({ inOrder: true, failed: [jobId] });
    return {
      injected: "an upload that kills its worker at every attempt, others every two seconds",
      outcome: `failed after ${worker.restarts} crashes in ${seconds(failedMs)}, its upload still stored; ${healthy.length} others succeeded; ${compared}`,
    };
  });
}

/** SIGTERM of web and worker while clients send. */
async function terminate(bench: Bench): Promise<Outcome> {
  return bench.withSpoor({ worker: false }, async (spoor) => {
    const worker = await spoor.startWorker();
    const { web } = spoor;
    let sending = true;
    const clients = Array.from({ length: 4 }, async () => {
      while (sending) await spoor.send([bench.trace(200, {}, 2000)], randomUUID());
    });
    await sleep(1500);
    const askedAt = new Date((await spoor.db.query("select now() as now")).rows[0].now);
    const startedAt = performance.now();
    const took: number[] = [];
    const ends = [worker, web].map(async (one) => {
      one.signal("SIGTERM");
      const end = await one.ended();
      took.push(performance.now() - startedAt);
      return end;
    });
    await sleep(200);
    sending = false;
    const clean = { code: 0, signal: null };
    expect(await Promise.all(ends)).toEqual([clean, clean]);
    expect(getMax(took)).toBeLessThan(15_000);
    await Promise.all(clients);
    const jobs = await spoor.jobs();
    // Each taker may end the claim that it has in flight, however late a busy machine delivers the signal; none makes another.
    const late = jobs.filter(({ startedAt: at }) => at && at.getTime() > askedAt.getTime() + 500);
    expect(late.length).toBeLessThanOrEqual(jobsAtOnce());
    const open = jobs.filter(({ status }) => status !== "succeeded").length;
    await Promise.all([spoor.startWeb(), spoor.startWorker()]);
    const compared = await spoor.check();
    return {
      injected: "SIGTERM of both processes while 4 clients send",
      outcome: `exit 0 after ${seconds(getMax(took))}, ${late.length} claimed half a second later or more, ${open} jobs left and done by the next start; ${compared}`,
    };
  });
}

export const crashFaults: Fault[] = [
  {
    name: "kill-web",
    title: "kill -9 of the web process at every step of a request",
    group: "processes",
    quick: true,
    run: (bench) => killWeb(bench, () => bench.trace(3)),
  },
  {
    name: "kill-web-large",
    title: "kill -9 of the web process at every step of a large upload",
    group: "processes",
    quick: true,
    run: (bench) => killWeb(bench, () => bench.trace(60, {}, 30_000)),
  },
  {
    name: "kill-worker",
    title: "kill -9 of the worker at every step of a job",
    group: "processes",
    quick: true,
    run: killWorker,
  },
  {
    name: "stop-worker",
    title: "Worker stopped (SIGSTOP) for minutes, then resumed beside its replacement",
    group: "processes",
    quick: false,
    run: stopWorker,
  },
  { name: "poison", title: "A job that crashes its worker every time", group: "processes", quick: false, run: poison },
  { name: "terminate", title: "SIGTERM under load", group: "processes", quick: true, run: terminate },
];
