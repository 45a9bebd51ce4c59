import { createHash } from "node:crypto";
import { v7 as uuid } from "uuid";
import { describe, expect, test, vi } from "vitest";
import { pool, type Queryable, transaction } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { storeLarge } from "#lib/ingest/accept/large-upload";
import { DecodeThread } from "#lib/ingest/decode/thread-pool";
import { waitingForLocks } from "../support/meanwhile.ts";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();
const otherId = await makeUser({ name: "Bob", email: "bob@example.org", password: "correct horse battery" });

const send = (sender: string, sourceId: string, key?: string) =>
  acceptBatch(
    { userId: sender, machine: "test" },
    Buffer.from(JSON.stringify({ traces: [{ sourceId, messages: [] }] })),
    "identity",
    key,
  );

/** An upload whose body takes a while to read. @returns a function that stores it then */
function beginLarge(key: string) {
  const own = (text: string) => new Uint8Array(Buffer.from(text));
  const sha256 = new Uint8Array(createHash("sha256").update(key).digest());
  const upload = { userId, machine: "test", jobId: uuid(), idempotencyKey: key, bytes: 1, sha256 };
  const checked = { manifest: own("{}"), stored: own("body"), traces: 1, messages: 0, sizes: [], isMasked: false };
  return { jobId: upload.jobId, end: () => storeLarge({ ...upload, ...checked }) };
}

const readSequence = async (jobId: string) =>
  Number((await pool().query("select sequence from ingest_job where id = $1", [jobId])).rows[0]?.sequence);

describe("an upload that takes a while to read", () => {
  test("is stored only if no other one got its idempotency key meanwhile", async () => {
    const large = beginLarge("shared");
    const jobId = await send(userId, "small", "shared"); // while the large one is still being read
    expect(await large.end()).toBe(false);
    const { rows } = await pool().query("select id from ingest_job where idempotency_key = 'shared'");
    expect(rows).toEqual([{ id: jobId }]);
    expect(await readSequence(large.jobId)).toBeNaN();
  });

  test("comes after uploads that were acknowledged meanwhile", async () => {
    const large = beginLarge("slow");
    const jobId = await send(userId, "quick");
    expect(await large.end()).toBe(true);
    expect(await readSequence(large.jobId)).toBeGreaterThan(await readSequence(jobId));
  });
});

describe("small uploads that are stored together", () => {
  test("do not fail because of a lock that another sender waits for", async () => {
    const locked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const held = transaction(async (tx) => {
      await tx.query(`select 1 from "user" where id = $1 for update`, [userId]); // as its deletion does
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const outcomes = await Promise.allSettled([
      send(userId, "stuck"),
      send(otherId, "free"),
      send(otherId, "free too"),
    ]);
    released.resolve();
    await held;
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  });

  test("lock the keys of several users in the same order as other processes", async () => {
    const insert = (tx: Queryable, sender: string | undefined) =>
      tx.query(
        `insert into ingest_job (user_id, id, machine, bytes, body_sha256, idempotency_key, traces_received, messages_received)
         values ($1, $2, 'test', 1, '', 'same', 0, 0)`,
        [sender, uuid()],
      );
    const [first, second] = [userId, otherId].toSorted();
    const outcomes = await transaction(async (tx) => {
      await insert(tx, first);
      const sent = Promise.allSettled([send(second ?? "", "b", "same"), send(first ?? "", "a", "same")]);
      await expect.poll(waitingForLocks).toBe(1);
      await insert(tx, second);
      return { sent };
    });
    const reasons = (await outcomes.sent).map((one) => one.status === "rejected" && one.reason.code);
    expect(reasons).toEqual(["idempotency_key_reused", "idempotency_key_reused"]);
  });

  test("are stored without the one that makes the group fail", async () => {
    const sent = [send(userId, "one"), send(uuid(), "of nobody"), send(otherId, "two")];
    const outcomes = await Promise.allSettled(sent);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });
});

test("a small body with very many values is not validated on the event loop", async () => {
  const calls = vi.spyOn(DecodeThread.prototype, "call");
  const sendText = (text: string) => acceptBatch({ userId, machine: "test" }, Buffer.from(text), "identity", undefined);
  const refused = sendText(`{"traces":[{"sourceId":"a","messages":[${Array(20_000).fill("{}")}]}]}`);
  await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
  expect(calls.mock.calls.map(([operation]) => operation)).toContain("read");
  calls.mockClear();
  await sendText(
    JSON.stringify({ traces: [{ sourceId: "b", messages: [{ position: 0, content: "{,".repeat(20_000) }] }] }),
  );
  expect(calls).not.toHaveBeenCalled();
});
