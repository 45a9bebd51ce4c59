import { type EventEmitter, once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pool, transaction } from "#lib/db/client";
import { isOutage } from "#lib/errors";
import { freshDatabase } from "../support/database.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

// Vitest fails a run in which an error is thrown that nobody awaits: that is what would end a process.
test("a connection that breaks between two statements fails only its transaction, as an outage", async () => {
  const failure = await transaction(async (tx) => {
    const { rows } = await tx.query("select pg_backend_pid() as pid");
    const broken = once(tx as unknown as EventEmitter, "error");
    await pool().query("select pg_terminate_backend($1::int)", [rows[0].pid]);
    await broken;
    await tx.query("select 1");
  }).catch((error) => error);
  expect(isOutage(failure)).toBe(true);
  expect((await pool().query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("a transaction with a failed statement is never reported as committed", async () => {
  const whole = transaction(async (tx) => {
    await tx.query("select 1 / 0").catch(() => {});
  });
  await expect(whole).rejects.toThrow("rolled back");
});
