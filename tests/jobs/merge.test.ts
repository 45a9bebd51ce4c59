import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool, transaction } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob } from "#lib/ingest/jobs";
import { mergeBatch } from "#lib/ingest/process/merge";
import { runJob } from "#lib/ingest/process/run-job";
import { withStoredBatch } from "#lib/ingest/process/stored-batch";
import { deleteTrace } from "#lib/traces/deletion";
import { listTraces } from "#lib/traces/queries";
import { needsOneServer } from "../support/nodes.ts";
import { countRows } from "../support/row-counts.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const countsOfOneServer = needsOneServer("the counts of rows that were read are each server's own");

const { accept, send, stored } = getUploads(userId);

describe("what a job does with a trace", () => {
  test("a new one is created", async () => {
    const job = await send({ sourceId: "new", messages: messages("a", "b") });
    expect(job).toMatchObject({
      status: "succeeded",
      attempts: 1,
      traces: { received: 1, created: 1, updated: 0, unchanged: 0, kept: 0, incomplete: 0 },
      messages: { received: 2, written: 2 },
    });
    expect(await stored("new")).toMatchObject({ source: "unknown", messageCount: 2, contents: ["a", "b"] });
    const { rows } = await pool().query("select machine from trace where user_id = $1 and source_id = 'new'", [userId]);
    expect(rows).toEqual([{ machine: "test" }]);
  });

  test("the same content again is unchanged and writes nothing", async () => {
    const trace = { sourceId: "same", title: "T", metadata: { b: 1, a: [2] }, messages: messages("a", "b") };
    await send(trace);
    const again = await send({ ...trace, metadata: { a: [2], b: 1 } });
    expect(again).toMatchObject({ traces: { unchanged: 1 }, messages: { received: 2, written: 0 } });
  });

  test("one that grew is updated, and only its new messages are written", async () => {
    await send({ sourceId: "grown", messages: messages("a", "b") });
    const grown = await send({ sourceId: "grown", messages: messages("a", "b", "c") });
    expect(grown).toMatchObject({ traces: { updated: 1 }, messages: { written: 1 } });
    expect((await stored("grown"))?.contents).toEqual(["a", "b", "c"]);
  });

  test("of one that changed in the middle only the changed message is written", async () => {
    await send({ sourceId: "changed", messages: messages("a", "b", "c") });
    const changed = await send({ sourceId: "changed", messages: messages("a", "B", "c") });
    expect(changed).toMatchObject({ traces: { updated: 1 }, messages: { written: 1 } });
    expect((await stored("changed"))?.contents).toEqual(["a", "B", "c"]);
  });

  test("a new title alone is an update that writes no message", async () => {
    await send({ sourceId: "titled", messages: messages("a") });
    const titled = await send({ sourceId: "titled", title: "A title", messages: messages("a") });
    expect(titled).toMatchObject({ traces: { updated: 1 }, messages: { written: 0 } });
    expect(await stored("titled")).toMatchObject({ title: "A title", contents: ["a"] });
  });

  test("one with fewer messages is kept as stored", async () => {
    await send({ sourceId: "short", messages: messages("a", "b") });
    expect(await send({ sourceId: "short", messages: messages("x") })).toMatchObject({
      traces: { kept: 1 },
      messages: { written: 0 },
    });
    expect((await stored("short"))?.contents).toEqual(["a", "b"]);
  });

  test("one with fewer messages and replace:true is updated", async () => {
    await send({ sourceId: "replaced", messages: messages("a", "b") });
    expect(await send({ sourceId: "replaced", replace: true, messages: messages("x") })).toMatchObject({
      traces: { updated: 1 },
    });
    expect(await stored("replaced")).toMatchObject({ messageCount: 1, contents: ["x"] });
  });

  test("one that its owner deleted stays deleted, even with replace:true", async () => {
    await send({ sourceId: "deleted", messages: messages("a") });
    await deleteTrace(userId, (await stored("deleted"))?.id ?? "", operator);
    expect(await send({ sourceId: "deleted", messages: messages("a", "b") })).toMatchObject({ traces: { kept: 1 } });
    expect(await send({ sourceId: "deleted", replace: true, messages: messages("a") })).toMatchObject({
      traces: { kept: 1 },
    });
    expect(await stored("deleted")).toBeUndefined();
  });

  test("of two traces with the same key in a batch the last one wins", async () => {
    const job = await send(
      { sourceId: "twice", messages: messages("first") },
      { sourceId: "twice", messages: messages("last") },
    );
    expect(job).toMatchObject({ traces: { received: 2, created: 1 }, messages: { received: 2, written: 1 } });
    expect((await stored("twice"))?.contents).toEqual(["last"]);
  });

  test("the same sourceId from two sources is two traces", async () => {
    await send(
      { source: "claude-code", sourceId: "both", messages: messages("a") },
      { source: "codex-cli", sourceId: "both", messages: messages("b") },
    );
    const { traces } = await listTraces(userId, {}, { limit: 200 });
    expect(traces.filter(({ sourceId }) => sourceId === "both")).toHaveLength(2);
  });
});

describe("order and repetition", () => {
  test("an older upload that finishes late does not overwrite a newer one", async () => {
    const older = await accept([{ sourceId: "race", messages: messages("old", "old") }]);
    await send({ sourceId: "race", messages: messages("new", "new") });
    await runJob({ userId, jobId: older });
    expect(await getJob(userId, older)).toMatchObject({ status: "succeeded", traces: { kept: 1 } });
    expect((await stored("race"))?.contents).toEqual(["new", "new"]);
  });

  test("an upload between two identical ones is still older than the second", async () => {
    await send({ sourceId: "between", messages: messages("a") });
    const between = await accept([{ sourceId: "between", messages: messages("b") }]);
    await send({ sourceId: "between", messages: messages("a") });
    await runJob({ userId, jobId: between });
    expect((await stored("between"))?.contents).toEqual(["a"]);
  });

  // A simple model of the uploads in their order: shorter ones change nothing, unless they say replace.
  const uploads = {
    three: { messages: messages("1", "2", "3") },
    two: { messages: messages("x", "y") },
    other: { messages: messages("4", "5", "6") },
    one: { messages: messages("only"), replace: true },
  };
  test.each([
    [["three", "two"]],
    [["two", "three"]],
    [["three", "other"]],
    [["three", "two", "other"]],
    [["three", "one"]],
    [["one", "three"]],
    [["two", "one", "three"]],
    [["three", "one", "two"]],
  ] as (keyof typeof uploads)[][][])(
    "uploads %j lead to the same result, whichever is processed first",
    async (names) => {
      const expected = names.reduce<string[]>((now, name) => {
        const { messages: sent, ...more } = uploads[name];
        return sent.length >= now.length || "replace" in more ? sent.map(({ content }) => content) : now;
      }, []);
      const orders = [names.map((_, index) => index), names.map((_, index) => index).toReversed()];
      for (const order of orders) {
        const sourceId = `model-${names.join("-")}-${order.join("")}`;
        const jobs: string[] = [];
        for (const name of names) jobs.push(await accept([{ sourceId, ...uploads[name] }]));
        for (const index of order) await runJob({ userId, jobId: jobs[index] ?? "" });
        expect((await stored(sourceId))?.contents, order.join()).toEqual(expected);
      }
    },
  );

  test("running a job again changes nothing", async () => {
    const job = await send({ sourceId: "again", messages: messages("a") });
    await runJob({ userId, jobId: job.jobId });
    expect(await getJob(userId, job.jobId)).toEqual(job);
  });

  test("a job whose upload is no longer stored fails permanently, with a clear reason", async () => {
    const jobId = await accept([{ sourceId: "gone", messages: messages("a") }]);
    await pool().query("delete from upload where user_id = $1 and job_id = $2", [userId, jobId]);
    await runJob({ userId, jobId });
    expect(await getJob(userId, jobId)).toMatchObject({
      status: "failed",
      attempts: 1,
      error: { code: "not_found", message: "The upload is no longer stored. Send it again." },
    });
  });

  test("ten concurrent uploads of the same new traces, in different orders, store each trace once", async () => {
    const traces = Array.from({ length: 30 }, (_, n) => ({ sourceId: `crowd-${n}`, messages: messages("a", "b") }));
    const jobs = await Promise.all(
      Array.from({ length: 10 }, (_, turn) => accept(turn % 2 ? traces : traces.toReversed())),
    );
    await Promise.all(jobs.map((jobId) => runJob({ userId, jobId })));
    const ended = await Promise.all(jobs.map((jobId) => getJob(userId, jobId)));
    expect(ended.map(({ status }) => status)).toEqual(jobs.map(() => "succeeded"));
    expect(ended.reduce((sum, job) => sum + job.traces.created, 0)).toBe(30);
    expect(ended.reduce((sum, job) => sum + job.messages.written, 0)).toBe(60);
  });

  test.skipIf(countsOfOneServer)("a batch reads its own traces only, however many the user has", async () => {
    await pool().query(
      `insert into trace (user_id, id, source, source_id, message_count, token_count, content_hash, upload_sequence, activity_at)
       select $1, gen_random_uuid(), 'unknown', 'many-' || n, 0, 0, '', 1, now() from generate_series(1, 4000) as n`,
      [userId],
    );
    const sent = Array.from({ length: 500 }, (_, n) => ({ sourceId: `many-${n + 1}`, messages: [] }));
    const jobId = await accept(sent);
    const { bytes } = await getJob(userId, jobId);
    const { result, read } = await withStoredBatch({ userId, jobId, bytes, isRepeat: false }, (batch) =>
      transaction((tx) =>
        countRows(tx, () => mergeBatch(tx, batch, { userId, sequence: "0", machine: "test" }), ["trace"]),
      ),
    );
    await pool().query("delete from trace where user_id = $1 and source_id like 'many-%'", [userId]);
    expect(result.kept).toEqual({ deleted: 0, newer: 500, shorter: 0 });
    expect(read).toBe(500);
  });

  test("another user's trace with the same key is a different trace", async () => {
    const other = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    await send({ sourceId: "shared", messages: messages("ada's") });
    const jobId = await acceptBatch(
      { userId: other, machine: "test" },
      Buffer.from(JSON.stringify({ traces: [{ sourceId: "shared", messages: messages("bob's") }] })),
      "identity",
      undefined,
    );
    await runJob({ userId: other, jobId });
    expect((await stored("shared"))?.contents).toEqual(["ada's"]);
    expect((await listTraces(other, {}, { limit: 10 })).traces).toHaveLength(1);
  });
});
