import { type EventEmitter, once } from "node:events";
import { PrismaPg } from "@prisma/adapter-pg";
import { expect, test } from "vitest";
import { isOutage, postgresCode } from "#lib/core/errors";
import { pool, prisma, transaction } from "#lib/db/client";
import { PrismaClient } from "#lib/generated/prisma/client";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

const catchFailure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

test("a lock that Prisma waited for too long is an outage", async () => {
  const error = await transaction(async (tx) => {
    await tx.query(`select 1 from "user" where id = $1 for update`, [userId]);
    const waiting = prisma().$transaction(async (other) => {
      await other.$queryRaw`select set_config('lock_timeout', '100', true)`;
      await other.user.updateMany({ where: { id: userId }, data: { name: "Ada" } });
    });
    return catchFailure(waiting);
  });
  expect(postgresCode(error)).toBe("55P03");
  expect(isOutage(error)).toBe(true);
});

test("a connection that PostgreSQL ended under Prisma is an outage", async () => {
  const ended = catchFailure(
    prisma().$transaction((tx) => tx.$queryRaw`select pg_terminate_backend(pg_backend_pid())`),
  );
  expect(isOutage(await ended)).toBe(true);
});

test("a database that Prisma cannot reach is an outage", async () => {
  const away = new PrismaClient({ adapter: new PrismaPg({ connectionString: "postgres://a:b@127.0.0.1:1/away" }) });
  expect(isOutage(await catchFailure(away.user.findFirst()))).toBe(true);
});

test("a statement that breaks a rule of the database is no outage", async () => {
  const other = { id: userId, name: "Ada", email: "ada@example.org", emailVerified: true };
  expect(isOutage(await catchFailure(prisma().user.create({ data: other })))).toBe(false);
});

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
