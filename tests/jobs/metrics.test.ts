import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { runJob } from "#lib/ingest/process/run-job";
import { countError, countForward, readCounts, writeCounts } from "#lib/observability/counters";
import { accept, trace } from "../support/ingesting.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
// What files before this one counted in the same process, and what they could not write, is not of this one.
await writeCounts();
await pool().query("delete from shared_count");

/** The shared counters as `name{label="value"}` with their values. */
async function counts(): Promise<Record<string, number>> {
  const figures = await readCounts();
  const values = figures.flatMap((figure) => figure.values);
  return Object.fromEntries(
    values.map(({ metricName, labels, value }) => [[metricName, ...Object.values(labels)].join(" "), value]),
  );
}

test("an upload and its job are counted, with bytes, traces by outcome and rows", async () => {
  const first = await accept(userId, trace("a", "one", "two"), trace("b", "three"));
  await runJob({ userId, jobId: first });
  const second = await accept(userId, trace("a", "one", "two", "more"), trace("b", "three"));
  await runJob({ userId, jobId: second });
  await runJob({ userId, jobId: second }); // delivered twice: nothing is done, so nothing is counted
  const { rows } = await pool().query("select sum(bytes)::int as bytes from ingest_job");
  // What another write has just taken is there once that has ended.
  await expect.poll(counts, { timeout: 15_000 }).toMatchObject({
    spoor_ingest_uploads_total: 2,
    spoor_ingest_bytes_total: rows[0].bytes,
    "spoor_ingest_traces_total created": 2,
    "spoor_ingest_traces_total updated": 1,
    "spoor_ingest_traces_total unchanged": 1,
    spoor_ingest_messages_written_total: 4,
    "spoor_job_attempts_total succeeded": 2,
    spoor_job_duration_seconds_count: 2,
    "spoor_job_duration_seconds_bucket +Inf": 2,
    "spoor_job_duration_seconds_bucket 1800": 2,
  });
});

test("counts that can't be written are kept, and later added to those of other processes", async () => {
  countForward("delivered");
  await writeCounts();
  await pool().query("update shared_count set value = value + 10 where name = 'spoor_telemetry_forwards_total'");
  await pool().query("alter table shared_count rename to elsewhere");
  countForward("delivered");
  await expect(writeCounts()).rejects.toThrow("shared_count");
  countForward("delivered");
  await pool().query("alter table elsewhere rename to shared_count");
  // The process's own writer may hold some of them for a moment.
  await expect.poll(counts, { timeout: 15_000 }).toMatchObject({ "spoor_telemetry_forwards_total delivered": 13 });
});

test("concurrent writers lose no count and don't block each other", async () => {
  const before = (await counts())["spoor_api_errors_total /api/x not_found"] ?? 0;
  const routes = ["/api/z", "/api/x", "/api/y"];
  await Promise.all(
    Array.from({ length: 30 }, async () => {
      for (const route of routes) countError(route, "not_found");
      await writeCounts();
    }),
  );
  expect((await counts())["spoor_api_errors_total /api/x not_found"]).toBe(before + 30);
});
