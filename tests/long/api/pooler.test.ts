import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { requiredEnv } from "#lib/core/env";
import { bearer, sessionCookie } from "../../api/client.ts";
import { hasPgbouncer, startPgbouncer } from "../../support/pgbouncer.ts";
import { get, ingest, post, provideOwnedServer } from "../../support/server.ts";

if (!hasPgbouncer) process.stderr.write("PgBouncer is not installed: the tests of poolers are skipped.\n");

describe.skipIf(!hasPgbouncer)(
  "with PgBouncer in transaction mode between all processes and the database",
  async () => {
    if (!hasPgbouncer) return;
    let pooler: Awaited<ReturnType<typeof startPgbouncer>> | undefined;
    const via = async (url: string) => {
      // Fewer backends than connections, so that they change hands.
      pooler = await startPgbouncer(url, { default_pool_size: 8 });
      return pooler.via(url);
    };
    const { server, token } = await provideOwnedServer({ via });
    const cookie = await sessionCookie(server);
    const direct = new pg.Client({ connectionString: requiredEnv("DATABASE_URL") });
    await direct.connect();
    afterAll(async () => {
      await direct.end();
      await pooler?.stop();
    });

    const session = (n: number) => ({
      sourceId: `s-${n}`,
      messages: [{ position: 0, role: "user", content: `word number ${n}` }],
    });

    const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

    test("a session is readable within 300 ms in the middle", async () => {
      const took: number[] = [];
      const lists: number[] = [];
      for (let n = 0; n < 15; n += 1) {
        const startedAt = performance.now();
        const sent = await post(server, "/api/ingest", { traces: [session(n)] }, bearer(token));
        const { jobId } = (await sent.json()) as { jobId: string };
        const isDone = "select from ingest_job where id = $1 and status = 'succeeded'";
        while ((await direct.query(isDone, [jobId])).rowCount === 0) await sleep(5);
        took.push(performance.now() - startedAt);
        const askedAt = performance.now();
        await (await get(server, "/api/traces?limit=1", token)).text();
        lists.push(performance.now() - askedAt);
        await sleep(Math.random() * 250);
      }
      // Where other tests keep the machine busy everything takes longer, as does a list, of 10 ms otherwise.
      expect(median(took)).toBeLessThan(300 * Math.max(1, median(lists) / 20));
    });

    test("uploads, searches, lists, exports and pages work at the same time on few backends", async () => {
      const statuses: [string, number][] = [];
      const note = async (what: string, sent: Promise<Response>) => {
        const response = await sent;
        await response.arrayBuffer();
        statuses.push([what, response.status]);
      };
      const rounds = Array.from({ length: 8 }, async (_, n) => {
        await note("upload", post(server, "/api/ingest", { traces: [session(100 + n)] }, bearer(token)));
        await note("list", get(server, "/api/traces?limit=5", token));
        await note("search", get(server, "/api/traces?q=number", token));
        await note("export", get(server, "/api/traces/export?limit=5", token));
        await note("page", fetch(`${server.url}/traces`, { headers: { Cookie: cookie } }));
        await note("usage", fetch(`${server.url}/usage`, { headers: { Cookie: cookie } }));
        await note("login", post(server, "/api/cli/device/start", { machine: randomUUID() }));
        await note("ready", get(server, "/api/ready"));
      });
      await Promise.all(rounds);
      // One user's heavy reads wait for each other, three seconds at most.
      const isHeavy = (what: string) => ["search", "export", "usage"].includes(what);
      const isUnexpected = ([what, status]: [string, number]) => status >= 400 && !(isHeavy(what) && status === 503);
      expect(statuses.filter(isUnexpected)).toEqual([]);
      expect(await ingest(server, token, [session(100), session(1000)])).toMatchObject({
        status: "succeeded",
        traces: { created: 1, unchanged: 1 },
      });
    });

    test("no backend listens, keeps a lock or another's setting", async () => {
      const held = await direct.query(
        `select count(*)::int as locks from pg_locks where locktype = 'advisory' and pid not in
         (select pid from pg_stat_activity where xact_start is not null)`,
      );
      expect(held.rows).toEqual([{ locks: 0 }]);
      const listening = await direct.query(
        "select count(*)::int as count from pg_stat_activity where datname = current_database() and query ilike 'listen%'",
      );
      expect(listening.rows).toEqual([{ count: 0 }]);
    });
  },
);
