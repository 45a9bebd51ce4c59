import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { forRequest } from "#lib/core/current-request";
import { env, setEnv } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { closeDatabase, limitStatements, patiently, pool, prisma, transaction } from "#lib/db/client";
import { beginRead, hasTooMany, heavyRead, heavyTurn } from "#lib/db/heavy";
import { toSpoorError } from "#lib/http/problem";
import { holdDeadlines } from "../support/deadlines.ts";
import { provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const { heavyPerUser, maxWaitSeconds, maxWaitingPerUser } = limits.reads;

const overloaded = { name: "SpoorError", code: "overloaded" };

/** A statement that runs until it is ended. */
const endless = (tx: PoolClient) => tx.query("select pg_sleep(600)");

async function running(): Promise<number> {
  const { rowCount } = await pool().query(
    "select from pg_stat_activity where query = 'select pg_sleep(600)' and state = 'active'",
  );
  return rowCount ?? 0;
}

/** Expects that as many reads of a user as may run at a time do so. */
async function expectFree(user: string): Promise<void> {
  let now = 0;
  let most = 0;
  const turn = async () => {
    now += 1;
    most = Math.max(most, now);
    await sleep(20);
    now -= 1;
  };
  await Promise.all(Array.from({ length: heavyPerUser }, () => heavyTurn(user, turn)));
  expect(most).toBe(heavyPerUser);
}

describe("a heavy read", () => {
  test("that takes too long is ended, and answered as overloaded", async () => {
    await expect(heavyRead(userId, endless, { seconds: 0.2 })).rejects.toMatchObject(overloaded);
    expect(await running()).toBe(0);
    await expectFree(userId);
  });

  test("is cancelled in PostgreSQL when its client goes", async () => {
    const client = new AbortController();
    const read = forRequest(client, () => heavyRead(userId, endless));
    read.catch(() => {});
    while ((await running()) === 0) await sleep(10);
    client.abort();
    await expect(read).rejects.toThrow("aborted");
    expect(await running()).toBe(0);
    await expectFree(userId);
  });

  test("is cancelled however many statements it still has to send", async () => {
    const client = new AbortController();
    const read = forRequest(client, () =>
      heavyRead(userId, async (tx) => {
        for (let n = 0; n < 10_000; n += 1) await tx.query("select pg_sleep(0.001)");
      }),
    );
    setTimeout(() => client.abort(), 100);
    await expect(read).rejects.toThrow("aborted");
  });

  test("whose client goes at any moment never ends a statement of somebody else", async () => {
    const others = Array.from({ length: 8 }, async () => {
      for (let n = 0; n < 12; n += 1) await pool().query("select pg_sleep(0.005)");
    });
    for (let n = 0; n < 30; n += 1) {
      const client = new AbortController();
      const read = forRequest(client, () => heavyRead(userId, (tx) => tx.query("select pg_sleep(0.002)")));
      setTimeout(() => client.abort(), (n % 30) / 5);
      await read.catch((error) => expect(error.name).toBe("AbortError"));
    }
    await Promise.all(others);
    await expectFree(userId);
  });

  test("that waits is given up when its client goes", async () => {
    const first = new AbortController();
    const held = Array.from({ length: heavyPerUser }, () => forRequest(first, () => heavyRead(userId, endless)));
    const client = new AbortController();
    const waiting = forRequest(client, () => heavyRead(userId, endless));
    client.abort();
    await expect(waiting).rejects.toThrow("aborted");
    first.abort();
    expect((await Promise.allSettled(held)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expectFree(userId);
  });

  test("waits for others of its user a few seconds at most, and never for another user's", async () => {
    const deadlines = holdDeadlines();
    const client = new AbortController();
    const held = Array.from({ length: heavyPerUser }, () => forRequest(client, () => heavyRead(userId, endless)));
    const patient = heavyTurn(userId, async () => "in the end", "wait");
    expect(await heavyTurn("another user", async () => "at once")).toBe("at once");
    const waiting = heavyTurn(userId, async () => {});
    expect(deadlines.at(-1)?.ms).toBe(maxWaitSeconds * 1000);
    deadlines.at(-1)?.pass();
    await expect(waiting).rejects.toMatchObject({ ...overloaded, retryAfterSeconds: maxWaitSeconds });
    client.abort();
    await Promise.allSettled(held);
    expect(await patient).toBe("in the end");
  });

  test("is refused at once where too many of its user wait", async () => {
    let release = () => {};
    const end = new Promise<void>((resolve) => {
      release = resolve;
    });
    const calls = Array.from({ length: heavyPerUser + maxWaitingPerUser }, () => heavyTurn(userId, () => end));
    await expect(heavyTurn(userId, () => end)).rejects.toMatchObject(overloaded);
    release();
    await Promise.all(calls);
    await expectFree(userId);
  });

  test("leaves half of the connections free, whoever reads", async () => {
    const client = new AbortController();
    const users = Array.from({ length: 30 }, (_, n) => `user ${n}`);
    const reads = users.map((user) => forRequest(client, () => heavyRead(user, endless)));
    const settled = Promise.allSettled(reads);
    await expect.poll(running).toBe(5);
    const { rows } = await pool().query("select 1 as one");
    expect(rows).toEqual([{ one: 1 }]);
    client.abort();
    await settled;
    expect(await running()).toBe(0);
  });

  test("of a user who has none begins at once beside as many as three others may start", async () => {
    const client = new AbortController();
    const users = ["a user", "a second", "a third"].flatMap((user) => [user, user, user]);
    const held = users.map((user) => forRequest(client, () => heavyRead(user, endless)));
    const settled = Promise.allSettled(held);
    holdDeadlines(); // it would wait for as long as the others
    expect(await heavyRead("a fourth", async () => "read")).toBe("read");
    client.abort();
    await settled;
  });

  test("that fails gives its turn back", async () => {
    for (let n = 0; n < 5; n += 1)
      await expect(heavyRead(userId, (tx) => tx.query("select 1 / 0"))).rejects.toThrow("zero");
    await expectFree(userId);
  });
});

test("a user's exports wait for each other, and end with their request", async () => {
  const client = new AbortController();
  const begin = () => beginRead(userId, "export");
  const [end] = await Promise.all([begin(), forRequest(client, begin)]);
  const third = begin();
  client.abort();
  const endThird = await third;
  const deadlines = holdDeadlines();
  const fourth = begin();
  deadlines.at(-1)?.pass();
  await expect(fourth).rejects.toMatchObject(overloaded);
  end();
  endThird();
});

test("a user's outlines wait as long as their clients, some of them; more are refused at once", async () => {
  const { outlinesPerUser, maxLongWaitingPerUser } = limits.reads;
  const client = new AbortController();
  const begin = () => forRequest(client, () => beginRead(userId, "outline"));
  const running = await Promise.all(Array.from({ length: outlinesPerUser }, begin));
  const waiting = Array.from({ length: maxLongWaitingPerUser }, begin);
  const settled = Promise.allSettled(waiting);
  expect(hasTooMany(userId, "outline")).toBe(true);
  await expect(begin()).rejects.toMatchObject(overloaded);
  expect(hasTooMany("another user", "outline")).toBe(false);
  running[0]?.();
  await waiting[0];
  expect(hasTooMany(userId, "outline")).toBe(false);
  client.abort();
  expect((await settled).filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(hasTooMany(userId, "outline")).toBe(false);
});

describe("in a process that serves requests", () => {
  afterAll(closeDatabase);
  /** The rest of the file has connections of its own. */
  const limitTo = async (seconds: number, url = env().DATABASE_URL) => {
    await closeDatabase();
    setEnv({ DATABASE_URL: url });
    limitStatements(seconds);
  };

  test("every statement ends in time, but for a transaction that writes and patient work", async () => {
    await limitTo(0.2);
    const late = await pool()
      .query("select pg_sleep(3)")
      .catch((error) => error);
    expect(toSpoorError(late, "")).toMatchObject(overloaded);
    const byPrisma = await prisma().$queryRaw`select pg_sleep(3)`.catch((error) => error);
    expect(toSpoorError(byPrisma, "")).toMatchObject(overloaded);
    await transaction((tx) => tx.query("select pg_sleep(0.3)"));
    await patiently(() => pool().query("select pg_sleep(0.3)"));
  });
});
