import { randomBytes } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { operator } from "#lib/auth/audit";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { listFindings } from "#lib/findings/findings";
import { decide } from "#lib/findings/rulings";
import { findingsQuery } from "#lib/findings/schema";
import { DecodeThread } from "#lib/ingest/decode/thread-pool";
import { getJob } from "#lib/ingest/jobs";
import { maskStored } from "#lib/ingest/masking/stored";
import { failJob } from "#lib/ingest/process/attempts";
import { removeObjects } from "#lib/ingest/raw/removal";
import { streamUpload } from "#lib/ingest/raw/stored-upload";
import { replayJob } from "#lib/ingest/replay";
import { accountTraces } from "#lib/ledger/account";
import { deleteObject } from "#lib/storage/s3";
import { refuse } from "../support/refusing.ts";
import { findResidue, isIndexed } from "../support/residue.ts";
import { startS3 } from "../support/s3.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { clearTraces, indexAll } from "./searching.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const otherId = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
const { send, accept, run } = getUploads(userId);
const s3 = await startS3();
const [key, another] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString("base64"));
const secret = "Tr0ub4dorx3zyx9";
const tables = ["finding", "secret_ruling", "secret_policy", "masking_task", "ingest_job", "object_removal"];
const inPostgres = { ENCRYPTION_KEY: undefined, UPLOAD_STORE: undefined };

afterAll(s3.stop);
beforeEach(() => {
  vi.spyOn(performance, "now").mockImplementation(() => elapsed() + passed);
  setEnv(inPostgres);
});
afterEach(async () => {
  setEnv(inPostgres);
  s3.setMood("well");
  pass(3 * 3600); // what failed is due again
  while ((await maskStored(10)) > 0);
  await clearTraces();
  for (const table of tables) await pool().query(`delete from ${table}`);
  vi.restoreAllMocks();
});

/** How much time has passed by `pass`, in milliseconds; it goes on by itself, too. */
let passed = 0;
const elapsed = performance.now.bind(performance);
const pass = (seconds: number) => {
  passed += seconds * 1000;
};
const session = (sourceId: string, ...more: string[]) => ({
  sourceId,
  title: "t",
  messages: messages("nothing", `password: "${secret}"`, ...more),
});

/** Accepts a batch whose job has failed. @returns the job's id */
async function acceptFailed(...more: string[]): Promise<string> {
  const jobId = await accept([session("failed", ...more)]);
  await failJob({ userId, jobId }, "processing_failed", "It could not be processed.");
  return jobId;
}

/** Has the secret masked everywhere in a user's sessions. */
async function rule(ofUser = userId): Promise<void> {
  await accountTraces(10);
  const [found] = (await listFindings(ofUser, findingsQuery.parse({ state: "open" }))).findings;
  await decide(ofUser, { ...(found as { kind: string; mark: string }), verdict: "mask" }, operator);
}

async function tasks(ofUser = userId): Promise<number> {
  const { rows } = await pool().query("select count(*)::int as count from masking_task where user_id = $1", [ofUser]);
  return rows[0].count;
}

/** Whether the secret stands in a message of a user's, or in the index. */
async function isThere(ofUser = userId): Promise<boolean> {
  const found = await pool().query("select 1 from message where user_id = $1 and strpos(content, $2) > 0", [
    ofUser,
    secret,
  ]);
  return found.rows.length > 0;
}

const replaceBody = (jobId: string, body: Uint8Array) =>
  pool().query("update upload set body = $2 where job_id = $1", [jobId, Buffer.from(body)]);
const isRemoved = async (jobId: string) => {
  await expect(streamUpload(userId, jobId)).rejects.toMatchObject({ code: "not_found" });
  await expect(replayJob(userId, jobId)).rejects.toMatchObject({ code: "not_found" });
  const { status, error } = await getJob(userId, jobId);
  expect({ status, error }).toEqual({
    status: "failed",
    error: {
      code: "processing_failed",
      message:
        "It could not be processed. The upload could not be read for masking secrets, so it was removed. Send it again.",
    },
  });
};

describe("a failed job's upload that can't be read", () => {
  test.each<[string, (jobId: string) => Promise<unknown>]>([
    ["because it is corrupt", (jobId) => replaceBody(jobId, Buffer.from("junk"))],
    [
      "because it is no batch by today's rules",
      (jobId) =>
        replaceBody(jobId, zstdCompressSync(JSON.stringify({ traces: [{ messages: [{ content: secret }] }] }))),
    ],
    [
      "because its seal is broken",
      async (jobId) => {
        const { rows } = await pool().query<{ body: Buffer }>("select body from upload where job_id = $1", [jobId]);
        const body = new Uint8Array(rows[0]?.body ?? []);
        body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
        await replaceBody(jobId, body);
      },
    ],
  ])("%s, ends, and its job says so; all else is masked", async (_why, harm) => {
    setEnv({ ENCRYPTION_KEY: key });
    await send(session("one"));
    const jobId = await acceptFailed();
    await harm(jobId);
    await indexAll();
    await rule();
    expect(await isIndexed(secret)).toBe(true);
    expect(await maskStored(10)).toBe(1);
    expect([await tasks(), await isThere(), await isIndexed(secret)]).toEqual([0, false, false]);
    await isRemoved(jobId);
    expect(await findResidue([secret])).toEqual([]);
  });

  test("because it is no longer in the store, is passed over, and its titles are forgotten", async () => {
    setEnv(s3.settings);
    await send(session("one"));
    const jobId = await accept([{ ...session("failed"), title: `mine: password=${secret}` }]);
    await failJob({ userId, jobId }, "processing_failed", "It could not be processed.");
    await deleteObject(`uploads/${userId}/${jobId}.zst`);
    await rule();
    expect(await maskStored(10)).toBe(1);
    expect([await tasks(), await isThere()]).toEqual([0, false]);
    expect(await findResidue([secret])).toEqual([]);
  });
});

describe("a failed job's upload that can't be read for now", () => {
  test.each<[string, () => void, () => void]>([
    ["because its key is not there", () => setEnv({ ENCRYPTION_KEY: another }), () => setEnv({ ENCRYPTION_KEY: key })],
    ["because the store is away", () => s3.setMood("forbidden"), () => s3.setMood("well")],
  ])("%s, stops nothing, is left alone for a while, and is masked then", async (why, harm, mend) => {
    setEnv({ ENCRYPTION_KEY: key, ...(why.includes("store") && s3.settings) });
    await send(session("one"));
    const jobId = await acceptFailed();
    await getUploads(otherId).send(session("other"));
    await indexAll();
    await rule();
    await rule(otherId);
    harm();
    await maskStored(10);
    await maskStored(10);
    expect([await tasks(), await isThere(), await isIndexed(secret)]).toEqual([1, false, false]);
    expect([await tasks(otherId), await isThere(otherId)]).toEqual([0, false]);

    mend();
    expect([await maskStored(10), await tasks()]).toEqual([0, 1]); // not at once
    harm();
    pass(61);
    expect([await maskStored(10), await tasks()]).toEqual([0, 1]);
    mend();
    pass(61);
    expect([await maskStored(10), await tasks()]).toEqual([0, 1]); // after twice the time
    pass(60);
    expect([await maskStored(10), await tasks()]).toEqual([1, 0]);
    await removeObjects(5);
    await replayJob(userId, jobId);
    expect(await run(jobId)).toMatchObject({ status: "succeeded", traces: { created: 1 } });
    expect(await isThere()).toBe(false);
  });

  test("keeps up no session that is to be masked meanwhile", async () => {
    setEnv({ ENCRYPTION_KEY: key });
    await send(session("one"));
    await acceptFailed();
    await rule();
    setEnv({ ENCRYPTION_KEY: undefined });
    await maskStored(10);
    // As if it had come meanwhile, and been found by the ledger.
    const content = `password: "${secret}"`;
    await pool().query("update message set content = $2 where user_id = $1 and position = 1", [userId, content]);
    await pool().query("update masking_task set created_at = $2 where user_id = $1", [
      userId,
      new Date(Date.now() + 5),
    ]);
    expect([await maskStored(10), await tasks(), await isThere()]).toEqual([0, 1, false]);
    setEnv({ ENCRYPTION_KEY: key });
    pass(3600);
    expect([await maskStored(10), await tasks()]).toEqual([1, 0]);
  });
});

test("a large body is masked on a thread", async () => {
  const words = Array.from({ length: 40 }, () => randomBytes(3000).toString("base64"));
  await send(session("one"));
  const jobId = await acceptFailed(...words);
  await rule();
  const calls = vi.spyOn(DecodeThread.prototype, "call");
  expect(await maskStored(10)).toBe(1);
  const operations = calls.mock.calls.map(([operation]) => operation).filter((one) => !one.startsWith("mask"));
  expect(operations).toEqual(["close", "readAgain", "close"]);
  await replayJob(userId, jobId);
  expect(await run(jobId)).toMatchObject({ status: "succeeded", messages: { written: 42 } });
  expect(await isThere()).toBe(false);
  expect(await findResidue([secret])).toEqual([]);
});

test("a session that can't be masked keeps up no other, and is retried after a while", async () => {
  await send(session("bad"), session("good"));
  await rule();
  const { rows } = await pool().query("select id from trace where source_id = 'bad'");
  const allow = await refuse("update on message", { when: `old.trace_id = '${rows[0].id}'` });
  try {
    expect([await maskStored(10), await tasks()]).toEqual([1, 1]);
    expect([await maskStored(10), await tasks()]).toEqual([0, 1]);
  } finally {
    await allow();
  }
  expect(await maskStored(10)).toBe(0);
  pass(61);
  expect([await maskStored(10), await tasks(), await isThere()]).toEqual([1, 0, false]);
});

test("a user whose masking fails keeps up nobody else", async () => {
  for (const [failing, other] of [
    [userId, otherId],
    [otherId, userId],
  ] as const) {
    for (const id of [failing, other]) {
      await getUploads(id).send(session(`for ${failing}`));
      await pool().query(
        "insert into masking_task (user_id, trace_id) select user_id, id from trace where user_id = $1",
        [id],
      );
    }
    const allow = await refuse("delete on masking_task", { when: `old.user_id = '${failing}'` });
    try {
      await maskStored(10);
      await maskStored(10);
      expect([(await tasks(failing)) > 0, await tasks(other)]).toEqual([true, 0]);
    } finally {
      await allow();
    }
    pass(61);
    await maskStored(10);
    expect(await tasks(failing)).toEqual(0);
  }
});
