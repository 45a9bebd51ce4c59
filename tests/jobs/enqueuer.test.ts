import { expect, test, vi } from "vitest";
import { env } from "#lib/core/env";
import { pool, prisma, type Queryable, transaction } from "#lib/db/client";
import { admitted } from "#lib/ingest/accept/admission";
import { enqueue, prepareQueue, takeOne } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { makeWorkerBoss } from "#lib/queue/worker-boss";
import { accept, trace } from "../support/ingesting.ts";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId: ada } = await provideOwner();
const bob = await makeUser({ email: "bob@example.org", password: "correct horse battery staple", name: "Bob" });

const entries = async () =>
  (await pool().query("select data from pgboss.job where name = 'ingest' order by data")).rows;

test("an entry exists if, and only if, the transaction that added it commits, be it pg's or Prisma's", async () => {
  await prepareQueue();
  await transaction((tx) => enqueue(tx, queues.ingest, [{ jobId: "1" }]));
  await prisma().$transaction((tx) => enqueue(tx, queues.ingest, [{ jobId: "2" }, { jobId: "3" }]));
  const rolledBack = prisma().$transaction(async (tx) => {
    await enqueue(tx, queues.ingest, [{ jobId: "4" }]);
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  expect(await entries()).toEqual([1, 2, 3].map((n) => ({ data: { jobId: String(n) } })));
});

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

test("a failed enqueue leaves no pg-boss instance with running timers", async () => {
  const broken = { query: () => Promise.reject(new Error("Connection terminated")) } as unknown as Queryable;
  await prepareQueue();
  const before = timers();
  for (let round = 0; round < 5; round += 1) {
    const failing = () => enqueue(broken, queues.ingest, [{}]).catch((error: Error) => error.message);
    expect(await Promise.all([failing(), failing()])).toEqual(Array(2).fill("Connection terminated"));
    await prepareQueue();
  }
  await expect.poll(timers).toBeLessThanOrEqual(before + 1); // polling has its own
});

test.each([
  ["to start", () => true],
  ["to read its queues", (statement: string) => /\.queue\b/.test(statement)],
])("an instance that failed %s is replaced by the next call", async (_what, fails) => {
  const broken = { query: () => Promise.reject(new Error("Connection terminated")) } as unknown as Queryable;
  await expect(enqueue(broken, queues.ingest, [{}])).rejects.toThrow("Connection terminated");
  const query = pool().query.bind(pool()) as (...statement: unknown[]) => unknown;
  const outage = (...statement: unknown[]) =>
    fails(String(statement[0])) ? Promise.reject(new Error("Connection terminated")) : query(...statement);
  vi.spyOn(pool(), "query").mockImplementation(outage as () => never);
  const add = () => transaction((tx) => enqueue(tx, queues.ingest, [{ jobId: "5" }]));
  await expect(add()).rejects.toThrow();
  vi.restoreAllMocks();
  await add();
});

test("a worker's connections keep the operator's options, and commit asynchronously", async () => {
  const url = new URL(env().DATABASE_URL ?? "");
  url.searchParams.set("options", "-c work_mem=5MB");
  const boss = makeWorkerBoss(url.href, true);
  await boss.start();
  const { rows } = await boss
    .getDb()
    .executeSql("select current_setting('work_mem') as memory, current_setting('synchronous_commit') as commit");
  await boss.stop({ graceful: false });
  expect(rows).toEqual([{ memory: "5MB", commit: "off" }]);
});

/** Accepts a small or a large upload, as a request does. */
const send = (userId: string, sourceId: string, size = 1) =>
  admitted(userId, 1000, () => accept(userId, trace(sourceId, "a".repeat(size))));

test("senders take turns in the queue, whoever has sent how many before, and each one's uploads stay in their order", async () => {
  await pool().query("delete from pgboss.job");
  const sent: Record<string, string> = {};
  for (let n = 0; n < 6; n += 1) sent[await send(ada, `ada-${n}`, n % 2 === 0 ? 1 : 100_000)] = `ada ${n}`;
  for (let n = 0; n < 2; n += 1) sent[await send(bob, `bob-${n}`)] = `bob ${n}`;
  const taken: (string | undefined)[] = [];
  const take = async (data: object) => void taken.push(sent[(data as { jobId: string }).jobId]);
  while (await takeOne(queues.ingest, take));
  expect(taken).toEqual(["ada 0", "bob 0", "ada 1", "bob 1", "ada 2", "ada 3", "ada 4", "ada 5"]);
});
