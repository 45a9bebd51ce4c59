// What is made of accents, in a time that would grow with the square of their number, would keep a process busy for minutes.
import { expect, test } from "vitest";
import { hashPassword, verifyPassword } from "#lib/auth/passwords/hashing";
import { composed } from "#lib/search/index/terms";

/** Accents that are to be brought into another order. */
const accents = (count: number) => "\u0301".repeat(count / 2) + "\u0316".repeat(count / 2);

async function measureCost(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

test("a text of accents is as it is, and what stands beside them is composed", async () => {
  const run = accents(100_000);
  let made = "";
  expect(await measureCost(() => (made = composed(`cafe\u0301 a${run} u\u0308ber`)))).toBeLessThan(500);
  expect(made === `caf\u00e9 a${run} \u00fcber`).toBe(true);
  const few = `a${accents(20)}`;
  expect(composed(few)).toBe(few.normalize("NFC"));
});

test("a password of accents is a wrong one at once", async () => {
  const hash = await hashPassword("correct horse battery");
  const password = accents(60_000);
  expect(await measureCost(async () => expect(await verifyPassword({ hash, password })).toBe(false))).toBeLessThan(500);
  expect(await verifyPassword({ hash, password: "correct horse battery" })).toBe(true);
});
