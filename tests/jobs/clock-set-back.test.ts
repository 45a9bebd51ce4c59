import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { requiredEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { countAttempt, getWaitSeconds, isOverLimit, overLimit, uncount } from "#lib/http/rate-limit";
import { getJob } from "#lib/ingest/jobs";
import { undoFuture } from "#lib/ingest/process/reconcile";
import { hasWorker, sendHeartbeat, takeTurn } from "#lib/observability/heartbeat";
import { superviseQueues, takeOne } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { makeWorkerBoss } from "#lib/queue/worker-boss";
import { drainQueues } from "#server/background/drain";
import { isWithin, takeHour } from "#server/background/steps";
import { accept, trace } from "../support/ingesting.ts";
import { provideOwner } from "../support/server.ts";

// What was put off while the clock was ahead: tests/jobs/reconcile.test.ts.
const { userId } = await provideOwner();
const later = "now() + interval '1 day'";

/** The columns of pg-boss's tables by which its passes find out whether they are due. */
let marks: { table: string; columns: string[] }[];

/** Sets columns of all rows, each to an expression of itself. */
async function change(table: string, columns: string[], expression: (column: string) => string): Promise<void> {
  await pool().query(`update ${table} set ${columns.map((column) => `${column} = ${expression(column)}`).join(", ")}`);
}

const setMarks = (value: string) => Promise.all(marks.map(({ table, columns }) => change(table, columns, () => value)));

/** The tables with a row of which a mark is later than a point in time. */
async function markedAfter(time: string): Promise<string[]> {
  const found = await Promise.all(
    marks.map(({ table, columns }) =>
      pool().query(`select $1 as table from ${table} where greatest(${columns.join(", ")}) > ${time} limit 1`, [table]),
    ),
  );
  return found.flatMap(({ rows }) => rows.map(({ table }) => table));
}

beforeAll(async () => {
  const boss = makeWorkerBoss(requiredEnv("DATABASE_URL"), false); // makes the queues that are pg-boss's own
  await boss.start();
  await boss.stop({ graceful: false });
  const { rows } = await pool().query(
    `select 'pgboss.' || table_name as table, array_agg(column_name::text) as columns from information_schema.columns
     where table_schema = 'pgboss' and table_name in ('queue', 'version') and column_name like '%\\_on'
       and column_name not in ('created_on', 'updated_on', 'delta_on', 'retained_on') -- for figures alone
     group by table_name order by table_name`,
  );
  marks = rows;
});

afterEach(async () => {
  vi.useRealTimers();
  await setMarks("null");
  await pool().query("delete from pgboss.job");
});

describe("after the database's clock was a day ahead", () => {
  test("a killed worker's upload is processed", async () => {
    const jobId = await accept(userId, trace("taken", "a"));
    const times = ["started_on", "heartbeat_on"];
    await change("pgboss.job", times, () => later);
    await pool().query("update pgboss.job set state = 'active'");
    await setMarks(later);
    await undoFuture();
    const age = (column: string) => `${column} - interval '1 minute'`;
    await change("pgboss.job", times, age);
    for (const { table, columns } of marks) await change(table, columns, age);
    await superviseQueues();
    await change("pgboss.job", ["start_after"], () => "now()"); // after the pause before another attempt
    expect(await drainQueues()).toEqual({ processed: 1, drained: true });
    expect((await getJob(userId, jobId)).status).toBe("succeeded");
  });

  test("every pass over the queues is due again, and none that was not put off", async () => {
    const before = "date_trunc('hour', now()) - interval '1 hour'";
    await setMarks(before);
    await undoFuture();
    expect(await markedAfter(before)).toEqual([]);
    await setMarks(later);
    expect(await markedAfter("now()")).toEqual(["pgboss.queue", "pgboss.version"]);
    await undoFuture();
    expect(await markedAfter("now()")).toEqual([]);
  });

  test("entries of every queue are taken", async () => {
    const names = Object.values(queues);
    await pool().query(
      `insert into pgboss.job (name, start_after) select name, ${later} from unnest($1::text[]) as name`,
      [names],
    );
    const take = () => Promise.all(names.map((name) => takeOne(name, async () => {})));
    expect(await take()).toEqual(names.map(() => false));
    await undoFuture();
    expect(await take()).toEqual(names.map(() => true));
  });

  test("workers that died then are not taken for living ones, and their turns are free", async () => {
    await pool().query("delete from process_heartbeat");
    const [worker, turn] = [randomUUID(), randomUUID()];
    await sendHeartbeat(worker);
    await takeTurn([turn], 30);
    await change("process_heartbeat", ["seen_at"], () => later);
    expect([await hasWorker(), await takeTurn([turn], 30)]).toEqual([true, undefined]);
    await undoFuture();
    expect([await hasWorker(), await takeTurn([turn], 30)]).toEqual([false, turn]);
    await sendHeartbeat(worker);
    expect(await hasWorker()).toBe(true);
    await pool().query("delete from process_heartbeat");
  });
});

test("after a process's clock was ahead, a function host's housekeeping goes on, and the price list is fetched", async () => {
  await pool().query("delete from server_setting where key in ('housekeeping', 'price_list_tried')");
  for (const key of ["housekeeping", "price_list_tried"]) {
    expect([await takeHour(key), await takeHour(key)]).toEqual([true, false]);
    await pool().query(`update server_setting set updated_at = ${later} where key = $1`, [key]);
    expect([await takeHour(key), await takeHour(key)]).toEqual([true, false]);
  }
  const minutes = (count: number) => new Date(Date.now() + count * 60_000);
  expect([-61, -59, 4, 6].map((count) => isWithin(minutes(count), 3_600_000))).toEqual([false, true, true, false]);
});

test("after a worker's clock was set back, a killed worker's upload is still found", async () => {
  const boss = makeWorkerBoss(requiredEnv("DATABASE_URL"), false);
  try {
    await boss.start();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 86_400_000 });
    await setTimeout(1500); // until the passes have seen it
    await accept(userId, trace("taken by a killed worker", "a"));
    await pool().query(
      "update pgboss.job set state = 'active', started_on = now(), heartbeat_on = now() - interval '1 minute'",
    );
    const states = async () => (await pool().query("select state from pgboss.job where name = 'ingest'")).rows;
    await expect.poll(states, { timeout: 8000 }).toEqual([{ state: "retry" }]);
  } finally {
    await boss.stop({ graceful: false });
  }
}, 20_000);

describe("after a process's clock was ahead, a limit", () => {
  const window = { points: 2, seconds: 60 };

  /** Counts twice what is allowed while the clock is ahead, and sets it back. */
  async function spend(count: () => Promise<unknown>, aheadSeconds: number): Promise<void> {
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: now + aheadSeconds * 1000 });
    for (let times = 0; times < 2 * window.points; times += 1) await count();
    vi.setSystemTime(now);
  }

  test("that was used up is counted anew", async () => {
    const call = () => overLimit("set-back-calls", "ada", window);
    await spend(call, 86_400);
    expect([await call(), await call()]).toEqual([undefined, undefined]);
    expect(await call()).toBeLessThanOrEqual(window.seconds);
  });

  test("that another process's calls have used up is counted anew", async () => {
    const call = () => overLimit("set-back-others", "ada", window);
    await pool().query("insert into rate_limit (key, points, expire) values ('set-back-others:ada', 9, $1)", [
      Date.now() + 86_400_000,
    ]);
    expect([await call(), await call()]).toEqual([undefined, undefined]);
    expect(await call()).toBeLessThanOrEqual(window.seconds);
  });

  test("of failures is counted anew, whichever way it is asked for", async () => {
    const name = "set-back-failures";
    const attempt = () => countAttempt(name, "ada", window);
    for (const ask of [attempt, () => getWaitSeconds(name, "ada", window)]) {
      await spend(attempt, 86_400);
      expect(await ask()).toBeUndefined();
      await uncount(name, "ada", window);
      vi.useRealTimers();
    }
    await spend(() => overLimit("set-back-asked", "ada", window), 86_400);
    expect(await isOverLimit("set-back-asked", "ada", window)).toBe(false);
  });

  test("stays as it is where the clocks of processes differ by some minutes", async () => {
    const call = () => overLimit("set-back-little", "ada", window);
    await spend(call, 240);
    expect(await call()).toBeGreaterThan(window.seconds);
  });
});
