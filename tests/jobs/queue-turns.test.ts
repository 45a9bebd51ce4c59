import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { admitted } from "#lib/ingest/accept/admission";
import { takeOne } from "#lib/queue/enqueuer";
import { queues } from "#lib/queue/queues";
import { accept, trace } from "../support/ingesting.ts";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId: ada } = await provideOwner();
const bob = await makeUser({ email: "bob@example.org", password: "correct horse battery staple", name: "Bob" });

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
