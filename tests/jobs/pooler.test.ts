import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { forRequest } from "#lib/core/current-request";
import { env, setEnv } from "#lib/core/env";
import { isOutage } from "#lib/core/errors";
import { closeDatabase, hasSessions, limitStatements, patiently, pool, prisma, transaction } from "#lib/db/client";
import { heavyRead } from "#lib/db/heavy";
import { migrate } from "#lib/db/migrate";
import { withMigrationLock } from "#lib/db/sql/migration-lock";
import { toSpoorError } from "#lib/http/problem";
import { overLimit } from "#lib/http/rate-limit";
import { installQueues } from "#lib/queue/queues";
import { provideDatabaseProxy } from "../support/database-proxy.ts";
import { hasPgbouncer, startPgbouncer } from "../support/pgbouncer.ts";
import { provideOwner } from "../support/server.ts";

if (!hasPgbouncer) process.stderr.write("PgBouncer is not installed: the tests of poolers are skipped.\n");

const overloaded = { name: "SpoorError", code: "overloaded" };

describe.skipIf(!hasPgbouncer)("behind PgBouncer in transaction mode", async () => {
  if (!hasPgbouncer) return;
  const { userId } = await provideOwner();
  const direct = env().DATABASE_URL ?? "";
  // Fewer backends than clients, so that they change hands all the time.
  const pooler = await startPgbouncer(direct, { default_pool_size: 3 });
  const via = pooler.via(direct);
  await closeDatabase();
  setEnv({ DATABASE_URL: via });
  limitStatements(1);
  const server = new pg.Pool({ connectionString: direct, max: 2 });
  afterAll(async () => {
    await server.end();
    await closeDatabase();
    await pooler.stop();
    setEnv({ DATABASE_URL: direct });
  });

  const settingsOfBackends = async () => {
    const held = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const client = new pg.Client({ connectionString: via });
        await client.connect();
        await client.query("begin");
        const { rows } = await client.query(
          "select current_setting('statement_timeout') as timeout, current_setting('synchronous_commit') as commit",
        );
        return { client, settings: rows[0] };
      }),
    );
    for (const { client } of held) {
      await client.query("rollback");
      await client.end();
    }
    return held.map(({ settings }) => settings);
  };

  test("a connection is no session", async () => {
    expect(await hasSessions()).toBe(false);
  });

  test("statements end in time, but for transactions that write and patient work, and no setting stays behind", async () => {
    const late = await pool()
      .query("select pg_sleep(3)")
      .catch((error) => error);
    expect(toSpoorError(late, "")).toMatchObject(overloaded);
    const byPrisma = await prisma().$queryRaw`select pg_sleep(3)`.catch((error) => error);
    expect(toSpoorError(byPrisma, "")).toMatchObject(overloaded);
    const inPrismas = await prisma()
      .$transaction((tx) => tx.$queryRaw`select pg_sleep(3)`)
      .catch((error) => error);
    expect(toSpoorError(inPrismas, "")).toMatchObject(overloaded);
    await transaction((tx) => tx.query("select pg_sleep(1.5)"));
    await patiently(() => pool().query("select pg_sleep(1.5)"));
    expect(await settingsOfBackends()).toEqual(Array(3).fill({ timeout: "0", commit: "on" }));
  });

  test("prepared statements of libraries work on every backend", async () => {
    const window = { points: 1000, seconds: 60 };
    for (let round = 0; round < 10; round += 1) {
      const counted = Array.from({ length: 6 }, (_, n) => overLimit("pooler", `key ${n}`, window));
      expect(await Promise.all(counted)).toEqual(Array(6).fill(undefined));
    }
  });

  test("a heavy read whose client goes is cancelled, and nobody else's statement on whatever backend", async () => {
    let others = 0;
    let isOver = false;
    const neighbours = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        await pool().query("select pg_sleep(0.004)");
        others += 1;
      }
    });
    for (let n = 0; n < 200; n += 1) {
      const client = new AbortController();
      const read = forRequest(client, () => heavyRead(userId, (tx) => tx.query("select pg_sleep(0.002)")));
      setTimeout(() => client.abort(), (n % 30) / 3);
      await read.catch((error) => expect(error.name).toBe("AbortError"));
    }
    const client = new AbortController();
    const endless = forRequest(client, () => heavyRead(userId, (tx) => tx.query("select pg_sleep(60)")));
    endless.catch(() => {});
    await sleep(100);
    client.abort();
    await expect(endless).rejects.toThrow("aborted");
    isOver = true;
    await Promise.all(neighbours);
    expect(others).toBeGreaterThan(200);
  });

  test("what it can't serve is an outage: no backend free in time, the server away", async () => {
    const { via: interruptible, interrupt } = provideDatabaseProxy();
    const small = await startPgbouncer(await interruptible(direct), { default_pool_size: 1, query_wait_timeout: 1 });
    await closeDatabase();
    setEnv({ DATABASE_URL: small.via(direct) });
    const holder = new pg.Client({ connectionString: small.via(direct) });
    holder.on("error", () => {}); // it is ended below
    await holder.connect();
    const failures = async () =>
      (await Promise.allSettled([pool().query("select 1"), prisma().user.count()])).map((one) =>
        one.status === "rejected" ? isOutage(one.reason) : "answered",
      );
    try {
      expect(await failures()).toEqual(["answered", "answered"]);
      await holder.query("begin");
      expect(await failures()).toEqual([true, true]);
      await holder.query("rollback");
      expect(await failures()).toEqual(["answered", "answered"]);
      interrupt();
      expect(await failures()).toEqual([true, true]);
    } finally {
      await holder.end();
      await closeDatabase();
      await small.stop();
      setEnv({ DATABASE_URL: via });
    }
  });

  describe("migrating", () => {
    const withEmpty = async (work: (url: string) => Promise<void>) => {
      const name = `empty_${randomUUID().replaceAll("-", "")}`;
      await server.query(`create database ${name}`);
      const url = new URL(via);
      url.pathname = name;
      try {
        await work(url.href);
      } finally {
        await server.query(`drop database ${name} with (force)`);
      }
    };
    const readLocks = async (url: string) => {
      const { rows } = await server.query(
        `select count(*)::int as locks from pg_locks join pg_database on pg_database.oid = database
         where locktype = 'advisory' and datname = $1`,
        [new URL(url).pathname.slice(1)],
      );
      return rows[0].locks;
    };

    test("leaves no lock behind, whether it succeeds or fails, alone or beside another", async () => {
      await withEmpty(async (url) => {
        const install = () => migrate(url, () => installQueues(url));
        const applied = await Promise.all([install(), install()]);
        expect(applied.flat().length).toBeGreaterThan(5);
        expect(await readLocks(url)).toBe(0);
        await expect(migrate(url, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
        expect(await readLocks(url)).toBe(0);
        expect(await install()).toEqual([]);
      });
    });

    test("waits for another migration, and says after a while who holds the lock of a session that stayed", async () => {
      await withEmpty(async (url) => {
        const patience = { transactionSeconds: 2, sessionSeconds: 1 };
        const take = () => withMigrationLock(url, async () => "taken", patience);
        let isFree = false;
        const first = withMigrationLock(url, async () => {
          await sleep(1500);
          isFree = true;
        });
        await sleep(100);
        expect([await take(), isFree]).toEqual(["taken", true]);
        await first;
        const own = new URL(direct);
        own.pathname = new URL(url).pathname;
        const stayed = new pg.Client({ connectionString: own.href });
        stayed.on("error", () => {}); // it is ended below
        await stayed.connect();
        await stayed.query("select pg_advisory_lock(72707369)");
        const message = await take().catch((error: Error) => error.message);
        expect(message).toMatch(/^Another session has held the lock of migrations for 1 s: process \d+/);
        await server.query(/select pg_terminate_backend\(\d+\);/.exec(String(message))?.[0] ?? "");
        expect(await take()).toBe("taken");
      });
    });
  });
});
