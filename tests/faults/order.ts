import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Bench, Fault, Outcome } from "./fault.ts";
import type { SentTrace } from "./model.ts";
import type { Spoor } from "./spoor.ts";
import { seconds } from "./wait.ts";

const max = (values: number[]) => values.reduce((highest, value) => Math.max(highest, value), 0);

/** Uploads of the same traces, processed in another order than they were accepted. */
async function lateOlder(bench: Bench): Promise<Outcome> {
  return bench.withSpoor({ worker: false }, async (spoor) => {
    const uploads: string[][] = [];
    const pairs = bench.quick ? 20 : 60;
    for (let n = 0; n < pairs; n += 1) {
      const jobs = [];
      for (const traces of versions(bench)) jobs.push(await spoor.upload(traces));
      uploads.push(jobs);
    }
    const deleted = bench.trace(4);
    uploads.push([await spoor.upload([deleted])]);
    // The queue hands out jobs in the order of their creation times.
    const shuffled = uploads.flat().sort(() => bench.random() - 0.5);
    for (const [at, jobId] of shuffled.entries()) {
      await spoor.db.query(
        "update pgboss.job set created_on = now() - make_interval(mins => $1) where name = 'ingest' and data->>'jobId' = $2",
        [shuffled.length - at, jobId],
      );
    }
    const worker = await spoor.startWorker({ environment: { WORKER_CONCURRENCY: "1" } });
    await spoor.drained();
    const turned = uploads.filter((jobs) => getIndex(shuffled, jobs[0]) > getIndex(shuffled, jobs.at(-1))).length;
    expect(turned).toBeGreaterThan(0);
    const finished = (await spoor.jobs()).toSorted((a, b) => Number(a.finishedAt) - Number(b.finishedAt));
    expect(finished.map(({ id }) => id)).not.toEqual((await spoor.jobs()).map(({ id }) => id));
    await spoor.delete(deleted);
    await spoor.upload([{ ...deleted, replace: true }]);
    const compared = await spoor.check();
    await worker.kill();
    return {
      injected: `${pairs} traces in two or three versions each, processed in a shuffled order (${turned} newest first); one deleted and sent again`,
      outcome: `each trace as if its uploads had been processed in the order they were accepted; ${compared}`,
    };
  });
}

const getIndex = (ids: string[], id = "") => ids.indexOf(id);

/** Two or three uploads of one trace that grow, shrink, change or replace it. */
function versions(bench: Bench): SentTrace[][] {
  const first = bench.trace(1 + bench.pick(5));
  const { sourceId } = first;
  const grown = { ...first, messages: [...first.messages, ...bench.messages(2, first.messages.length)] };
  const another = () => bench.trace(1 + bench.pick(7), { sourceId });
  const ways: SentTrace[][][] = [
    [[first], [grown]],
    [[first], [another()]],
    [[grown], [{ ...another(), replace: true }]],
    [[first], [grown], [another()]],
    [[first, another()], [another()]],
    [[first], [another()], [first]],
  ];
  return ways[bench.pick(ways.length)] ?? [];
}

const dayMs = 86_400_000;

/** A worker a day ahead beside one a day behind, and a web process a day behind. */
async function wrongClock(bench: Bench): Promise<Outcome> {
  return bench.withSpoor(
    { worker: { broken: { clockShiftMs: dayMs } }, web: { broken: { clockShiftMs: -dayMs } } },
    async (spoor) => {
      const behind = await spoor.startWorker({ broken: { clockShiftMs: -dayMs } });
      const trace = bench.trace(2);
      let grown = trace;
      const startedAt = performance.now();
      for (let n = 0; n < 12; n += 1) {
        await spoor.upload([grown, bench.trace(3)]);
        grown = { ...grown, messages: [...grown.messages, ...bench.messages(1, grown.messages.length)] };
      }
      await spoor.drained(20);
      const tookMs = performance.now() - startedAt;
      // If a lease depended on the worker's clock, a long job would go to another worker.
      const blocker = await spoor.db.connect();
      await blocker.query("begin");
      await blocker.query("lock table trace in access exclusive mode");
      const held = await spoor.upload([bench.trace(2)]);
      await spoor.jobIs(held, "running");
      await sleep(bench.quick ? 3000 : 14_000);
      expect((await spoor.job(held)).attempts).toBe(1);
      await blocker.query("rollback");
      blocker.release();
      await spoor.drained(20);
      const jobs = await spoor.jobs();
      expect(max(jobs.map(({ attempts }) => attempts))).toBe(1);
      const late = jobs.filter(({ startedAt: at }) => Math.abs(Date.now() - Number(at)) > 600_000);
      expect(late).toEqual([]);
      expect(behind.isAlive).toBe(true);
      const compared = await spoor.check();
      return {
        injected: "one worker a day ahead, another and the web process a day behind (their `Date`)",
        outcome: `12 uploads done in ${seconds(tookMs)}, a long job kept its worker, one attempt per job; ${compared}`,
      };
    },
  );
}

/** LISTEN connections that are terminated as soon as they are open. */
async function lostNotification(bench: Bench): Promise<Outcome> {
  return bench.withSpoor({}, async (spoor) => {
    const waits: number[] = [];
    for (let n = 0; n < (bench.quick ? 3 : 10); n += 1) {
      const silenced = silence(spoor);
      await sleep(300 + bench.pick(1700));
      const jobId = await spoor.upload([bench.trace(1)]);
      await spoor.jobIs(jobId, "succeeded", 20);
      await silenced.end();
      const { rows } = await spoor.db.query(
        "select extract(epoch from started_at - created_at) * 1000 as ms from ingest_job where id = $1",
        [jobId],
      );
      waits.push(Number(rows[0].ms));
    }
    expect(max(waits)).toBeLessThan(2200);
    const compared = await spoor.check({ inOrder: true });
    return {
      injected: `${waits.length} uploads while every connection that listens is ended within 50 ms`,
      outcome: `each taken after at most ${seconds(max(waits))}; ${compared}`,
    };
  });
}

/** Terminates every listening connection until it is stopped. */
function silence(spoor: Spoor) {
  let active = true;
  const work = (async () => {
    while (active) {
      await spoor.db.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'spoor-queue' and query ilike '%listen %'
           and pid <> pg_backend_pid()`,
      );
      await sleep(50);
    }
  })();
  return {
    end: async () => {
      active = false;
      await work;
    },
  };
}

export const orderFaults: Fault[] = [
  {
    name: "late-older",
    title: "An older upload finishing after a newer one",
    group: "processes",
    quick: true,
    run: lateOlder,
  },
  { name: "wrong-clock", title: "The wall clock a day off", group: "processes", quick: true, run: wrongClock },
  { name: "lost-notification", title: "Notification lost", group: "processes", quick: true, run: lostNotification },
];
