import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { hasColumn, next, provideNext } from "../../jobs/next-migration.ts";

const { write, apply } = await provideNext();

test("a migration that does not get its locks is rolled back each second, and applied when they are free", async () => {
  await write("alter table trace add column patient_a int; alter table ingest_job add column patient_b int;");
  const job = await pool().connect();
  await job.query("begin");
  await job.query("lock table ingest_job in row exclusive mode");
  const applied = apply();
  try {
    const slowest = await slowestWrite(3500);
    expect(slowest).toBeGreaterThan(200); // it did wait for the lock, and others behind it
    expect(slowest).toBeLessThan(3000);
    expect(await hasColumn("patient_a")).toBe(false);
  } finally {
    await job.query("rollback");
    job.release();
  }
  expect(await applied).toEqual([next]);
  expect([await hasColumn("patient_a"), await hasColumn("patient_b")]).toEqual([true, true]);
});

/** The longest that a write to a table took over some time, in milliseconds. */
async function slowestWrite(forMs: number): Promise<number> {
  const until = performance.now() + forMs;
  let slowest = 0;
  while (performance.now() < until) {
    const startedAt = performance.now();
    await pool().query("delete from ingest_job where machine = 'nobody'");
    slowest = Math.max(slowest, performance.now() - startedAt);
  }
  return slowest;
}
