import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { SpoorError } from "#lib/core/errors";
import { pool, transaction } from "#lib/db/client";
import { getJob } from "#lib/ingest/jobs";
import { mergeBatch } from "#lib/ingest/process/merge";
import { runJob } from "#lib/ingest/process/run-job";
import { withStoredBatch } from "#lib/ingest/process/stored-batch";
import { readStored } from "#lib/ingest/quota/sql";
import { accountTraces } from "#lib/ledger/account";
import { indexNext } from "#lib/search/index/indexer";
import { deleteTrace } from "#lib/traces/deletion";
import { listTraces } from "#lib/traces/queries";
import { needsOneServer } from "../support/nodes.ts";
import { countRows } from "../support/row-counts.ts";
import { provideOwner } from "../support/server.ts";
import { getUploads } from "./uploads.ts";

const { userId } = await provideOwner();
const countsOfOneServer = needsOneServer("the counts of rows that were read are each server's own");
const { accept, run, send, stored } = getUploads(userId);

/** Messages with these contents, from a position on. */
const messages = (first: number, ...contents: string[]) =>
  contents.map((content, index) => ({ position: first + index, content, role: "user", tokenCount: 2 }));
const whole = (sourceId: string, ...contents: string[]) => ({ sourceId, messages: messages(0, ...contents) });
const append = (sourceId: string, count: number, ...contents: string[]) => ({
  sourceId,
  append: { count },
  messages: messages(count, ...contents),
});
const contents = async (sourceId: string) => (await stored(sourceId))?.contents;

describe("an append", () => {
  test("that follows what is stored is added, and only its messages are written", async () => {
    await send({ ...whole("follows", "a", "b"), title: "T", project: "p", metadata: { branch: "main" } });
    const job = await send({ ...append("follows", 2, "c"), model: "m" });
    expect(job).toMatchObject({ traces: { received: 1, updated: 1, incomplete: 0 }, messages: { written: 1 } });
    expect(job).not.toHaveProperty("incomplete");
    expect(await stored("follows")).toMatchObject({
      contents: ["a", "b", "c"],
      messageCount: 3,
      tokenCount: 6,
      title: "T",
      project: "p",
      model: "m",
      metadata: { branch: "main" },
    });
  });

  test("that was stored already is unchanged, as is the whole session afterwards", async () => {
    await send(whole("again", "a", "b"));
    await send(append("again", 2, "c", "d"));
    for (const trace of [append("again", 2, "c", "d"), append("again", 4), whole("again", "a", "b", "c", "d")]) {
      const job = await send(trace, whole(`beside-${trace.messages.length}`, "x"));
      expect(job).toMatchObject({ traces: { unchanged: 1, created: 1 }, messages: { written: 1 } });
    }
    expect(await send(whole("again", "a", "b", "c", "d"))).toMatchObject({ traces: { unchanged: 1 } });
    expect(await send(whole("again", "a", "b", "c", "d", "e"))).toMatchObject({
      traces: { updated: 1 },
      messages: { written: 1 },
    });
    expect(await send(append("again", 5, "f"))).toMatchObject({ traces: { updated: 1 } });
    expect(await send(whole("again", "a", "B", "c", "d", "e", "f"))).toMatchObject({
      traces: { updated: 1 },
      messages: { written: 1 },
    });
    expect(await contents("again")).toEqual(["a", "B", "c", "d", "e", "f"]);
  });

  test.each([
    ["less", append("less", 3, "x"), 2],
    ["more", append("more", 1, "x"), 2],
    ["other", append("other", 1, "c", "d"), 2],
    ["none", append("none", 4), 2],
  ])("that does not fit (%s) changes nothing, and the job names it", async (sourceId, trace, messageCount) => {
    await send(whole(sourceId, "a", "b"));
    const before = await stored(sourceId);
    const job = await send(trace, whole(`${sourceId} beside`, "x"));
    expect(job).toMatchObject({
      status: "succeeded",
      traces: { received: 2, created: 1, updated: 0, unchanged: 0, kept: 0, incomplete: 1 },
      messages: { written: 1 },
      incomplete: [{ source: "unknown", sourceId, messageCount }],
    });
    expect(await stored(sourceId)).toEqual(before);
  });

  test("to what is not stored creates it from count 0, and is otherwise incomplete", async () => {
    expect(await send(append("fresh", 0, "a"))).toMatchObject({ traces: { created: 1 } });
    expect(await contents("fresh")).toEqual(["a"]);
    expect(await send(append("absent", 1, "b"))).toMatchObject({
      traces: { created: 0, incomplete: 1 },
      incomplete: [{ source: "unknown", sourceId: "absent", messageCount: 0 }],
    });
    expect(await stored("absent")).toBeUndefined();
  });

  test("to a trace that its owner deleted is kept", async () => {
    await send(whole("deleted", "a"));
    await deleteTrace(userId, (await stored("deleted"))?.id ?? "", operator);
    for (const count of [0, 1, 5]) {
      expect(await send(append("deleted", count, "b"))).toMatchObject({ traces: { kept: 1, incomplete: 0 } });
    }
    expect(await stored("deleted")).toBeUndefined();
  });

  test("may bring positions between stored ones, but none that is taken", async () => {
    const at = (position: number, content: string) => ({ position, content, role: "user" });
    await send({ sourceId: "gaps", messages: [at(2, "second"), at(10, "fifth")] });
    const between = { sourceId: "gaps", append: { count: 2 }, messages: [at(3, "third"), at(0, "first")] };
    expect(await send(between)).toMatchObject({ traces: { updated: 1 }, messages: { written: 2 } });
    expect(await stored("gaps")).toMatchObject({
      contents: ["first", "second", "third", "fifth"],
      title: "first",
    });
    expect(await send(between)).toMatchObject({ traces: { unchanged: 1 } });
    const taken = { sourceId: "gaps", append: { count: 4 }, messages: [at(10, "fifth"), at(11, "sixth")] };
    expect(await send(taken)).toMatchObject({ traces: { incomplete: 1 }, incomplete: [{ messageCount: 4 }] });
  });

  test("with replace is refused with its path, as is a count that is none", async () => {
    const faults = async (trace: object) => {
      const error = await accept([whole("fine", "a"), trace]).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(SpoorError);
      return error.errors.map(({ path }: { path: string }) => path);
    };
    expect(await faults({ ...append("bad", 1, "b"), replace: true })).toEqual(["traces.1.append"]);
    expect(await faults({ ...append("bad", 1, "b"), append: { count: -1 } })).toEqual(["traces.1.append.count"]);
    expect(await faults({ ...append("bad", 1, "b"), append: {} })).toEqual(["traces.1.append.count"]);
  });

  test("of new fields alone is an update that writes no message", async () => {
    await send({ ...whole("titled", "a"), metadata: { b: 1e21, a: [2] } });
    const titled = { ...append("titled", 1), title: "A title" };
    expect(await send(titled)).toMatchObject({ traces: { updated: 1 }, messages: { written: 0 } });
    expect(await send(titled)).toMatchObject({ traces: { unchanged: 1 } });
    expect(await stored("titled")).toMatchObject({ title: "A title", metadata: { a: [2], b: 1e21 } });
  });

  test("that was stored under other fields updates these alone", async () => {
    await send(whole("late title", "a"));
    await send(append("late title", 1, "b"));
    expect(await send({ ...append("late title", 1, "b"), title: "Late" })).toMatchObject({
      traces: { updated: 1 },
      messages: { written: 0 },
    });
    expect(await stored("late title")).toMatchObject({ title: "Late", contents: ["a", "b"] });
  });

  test("twice in one batch: the last wins", async () => {
    await send(whole("twice", "a"));
    const job = await send(append("twice", 1, "b"), append("twice", 1, "b", "c"));
    expect(job).toMatchObject({ traces: { received: 2, updated: 1 }, messages: { received: 3, written: 2 } });
    expect(await contents("twice")).toEqual(["a", "b", "c"]);
    expect(await send(whole("twice b", "a"), append("twice b", 1, "b"))).toMatchObject({
      traces: { created: 0, incomplete: 1 },
    });
  });
});

describe("order and repetition of appends", () => {
  test("an older append that finishes late is not added to what a newer upload wrote", async () => {
    await send(whole("late", "a", "b"));
    const older = await accept([append("late", 2, "c")]);
    await send({ ...whole("late", "A", "B"), replace: true });
    expect(await run(older)).toMatchObject({ traces: { incomplete: 1 }, incomplete: [{ messageCount: 2 }] });
    expect(await contents("late")).toEqual(["A", "B"]);
  });

  test("an older whole session that finishes late overwrites no append, and loses nothing", async () => {
    for (const [sourceId, sent, expected] of [
      ["other", ["a", "b", "X", "d", "e"], ["a", "b", "c"]],
      ["longer", ["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "e"]],
    ] as const) {
      await send(whole(`older ${sourceId}`, "a", "b"));
      const older = await accept([whole(`older ${sourceId}`, ...sent)]);
      await send(append(`older ${sourceId}`, 2, "c"));
      await run(older);
      expect(await contents(`older ${sourceId}`)).toEqual(expected);
    }
  });

  test("appends in the wrong order end incomplete, and nothing is stored twice", async () => {
    await send(whole("order", "a"));
    const [first, second] = [await accept([append("order", 1, "b")]), await accept([append("order", 2, "c")])];
    expect(await run(second)).toMatchObject({ traces: { incomplete: 1 } });
    expect(await run(first)).toMatchObject({ traces: { incomplete: 0, updated: 1 } });
    expect(await contents("order")).toEqual(["a", "b"]);
  });

  test("an attempt that ends before its commit leaves nothing behind, and the next one adds the messages once", async () => {
    await send(whole("killed", "a"));
    const jobId = await accept([append("killed", 1, "b")]);
    const { bytes } = await getJob(userId, jobId);
    const killed = new Error("killed");
    const attempt = withStoredBatch({ userId, jobId, bytes, isRepeat: false }, (batch) =>
      transaction(async (tx) => {
        await mergeBatch(tx, batch, { userId, sequence: "9000000000", machine: "test" });
        throw killed;
      }),
    );
    await expect(attempt).rejects.toBe(killed);
    for (const [updated, written] of [
      [1, 1],
      [1, 1], // running it again changes nothing
    ]) {
      expect(await run(jobId)).toMatchObject({ traces: { updated }, messages: { written } });
    }
    expect(await contents("killed")).toEqual(["a", "b"]);
  });

  test("ten at once add their messages once", async () => {
    await send(whole("crowd", "a"));
    const jobs = await Promise.all(Array.from({ length: 10 }, () => accept([append("crowd", 1, "b", "c")])));
    await Promise.all(jobs.map((jobId) => runJob({ userId, jobId })));
    const ended = await Promise.all(jobs.map((jobId) => getJob(userId, jobId)));
    expect(ended.map(({ traces }) => traces.updated + traces.unchanged)).toEqual(jobs.map(() => 1));
    expect(ended.reduce((sum, { messages }) => sum + messages.written, 0)).toBe(2);
    expect(await contents("crowd")).toEqual(["a", "b", "c"]);
  });
});

describe("what is derived from a session's messages", () => {
  test("title, search, usage and the size stay right", async () => {
    const [at, later] = ["2026-11-20T10:00:00.000Z", "2026-11-20T11:00:00.000Z"];
    const command = "<command-name>/review</command-name><command-args>266</command-args>";
    const both = [
      { position: 0, role: "user", content: command, tokenCount: 1, createdAt: at },
      { position: 1, role: "user", content: "Mend the zebra timer", tokenCount: 2, createdAt: later },
      { position: 2, role: "assistant", content: "done", tokenCount: 4, createdAt: later },
    ];
    const size = async () => (await readStored(userId)).used;
    const before = await size();
    await send({ sourceId: "sums parts", messages: both.slice(0, 1) });
    expect(await stored("sums parts")).toMatchObject({ title: "Review 266", updatedAt: at });
    await send({ sourceId: "sums parts", append: { count: 1 }, messages: both.slice(1) });
    const appended = await size();
    await send({ sourceId: "sums whole", messages: both });
    const [one, other] = [await stored("sums parts"), await stored("sums whole")];
    expect(one).toEqual({ ...other, id: one?.id, sourceId: "sums parts" });
    expect(one).toMatchObject({ title: "Review 266: Mend the zebra timer", updatedAt: later, tokenCount: 7 });
    expect((await size()) - appended).toBe(appended - before);
    while ((await indexNext()) > 0);
    await accountTraces(30);
    const found = await listTraces(userId, { q: "zebra" }, { limit: 10 });
    expect(found.traces.map(({ sourceId }) => sourceId).sort()).toEqual(["sums parts", "sums whole"]);
    const { rows } = await pool().query(
      "select messages, tokens from trace_usage where user_id = $1 and trace_id = any($2)",
      [userId, [one?.id, other?.id]],
    );
    expect(rows).toEqual([rows[1], { messages: 3, tokens: "7" }]);
  });

  test("the title of an earlier version's session is derived again", async () => {
    await send({ sourceId: "old title", messages: messages(0, "<command-name>/init</command-name>") });
    await pool().query("update trace set title_rank = null where user_id = $1 and source_id = 'old title'", [userId]);
    await send(append("old title", 1, "What a person wrote"));
    expect(await stored("old title")).toMatchObject({ title: "Init: What a person wrote" });
  });

  test.skipIf(countsOfOneServer)("one message for a session of thousands reads and writes no other", async () => {
    const many = Array.from({ length: 5000 }, (_, position) => ({ position, content: `message ${position}` }));
    await send({ sourceId: "long", messages: many });
    const jobId = await accept([append("long", 5000, "one more")]);
    const { bytes } = await getJob(userId, jobId);
    const { result, read, inserted, changed } = await withStoredBatch(
      { userId, jobId, bytes, isRepeat: false },
      (batch) =>
        transaction((tx) =>
          countRows(tx, () => mergeBatch(tx, batch, { userId, sequence: "9000000000", machine: "test" }), ["message"]),
        ),
    );
    expect(result).toMatchObject({ written: 1 });
    expect({ inserted, changed }).toEqual({ inserted: 1, changed: 0 });
    expect(read).toBeLessThanOrEqual(1);
  });
});
