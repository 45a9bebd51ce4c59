import { expect, test } from "vitest";
import { isOutage, postgresCode } from "#lib/core/errors";

/** An error of Prisma's adapter, as the commit of a transaction throws it. */
const ofAdapter = (message: string, cause: object) =>
  Object.assign(new Error(message, { cause }), { name: "DriverAdapterError" });

const ended = { originalCode: "57P01", originalMessage: "terminating connection", kind: "postgres" };

test.each([
  ["a backend that ended", ofAdapter("terminating connection due to administrator command", ended)],
  ["a socket that broke", ofAdapter("ConnectionClosed", { kind: "ConnectionClosed" })],
  ["a server that is away", ofAdapter("DatabaseNotReachable", { kind: "DatabaseNotReachable" })],
  ["the same within a query", Object.assign(new Error("x"), { meta: { driverAdapterError: { cause: ended } } })],
])("%s is an outage also where Prisma commits", (_, error) => expect(isOutage(error)).toBe(true));

test("what else PostgreSQL refuses at a commit is none, and keeps its code", () => {
  const error = ofAdapter("x", { originalCode: "23505", kind: "UniqueConstraintViolation" });
  expect([isOutage(error), postgresCode(error)]).toEqual([false, "23505"]);
  expect([isOutage(new Error("x")), postgresCode(new Error("x"))]).toEqual([false, undefined]);
});
