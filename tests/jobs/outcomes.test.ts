import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool, transaction } from "#lib/db/client";
import { getJob, getListedJob, listWrittenSessions } from "#lib/ingest/jobs";
import { mergeBatch } from "#lib/ingest/process/merge";
import { runJob } from "#lib/ingest/process/run-job";
import { withStoredBatch } from "#lib/ingest/process/stored-batch";
import { deleteTrace } from "#lib/traces/deletion";
import { needsOneServer } from "../support/nodes.ts";
import { countRows } from "../support/row-counts.ts";
import { makeUser, provideOwner } from "../support/server.ts";
import { getUploads, messages } from "./uploads.ts";

const { userId } = await provideOwner();
const countsOfOneServer = needsOneServer("the counts of rows that were read are each server's own");
const { accept, send, stored } = getUploads(userId);

/** The same JSON with every object's keys in reverse. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, reversed(item)]);
  return Object.fromEntries(entries.toReversed());
}

const rich = (sourceId: string, count: number) => ({
  sourceId,
  title: "Keys",
  branch: "main",
  cost: { output: 2, input: 1 },
  metadata: { z: [{ b: 1, a: { y: 1, x: 2 } }], a: "first" },
  messages: Array.from({ length: count }, (_, position) => ({
    position,
    role: "assistant",
    content: `message ${position}`,
    createdAt: "2026-11-20T08:00:00Z",
    model: "m",
    metadata: { tool: { name: "Read", input: { path: "a", limit: 1.5e300 } }, id: position },
  })),
});

describe("only rows whose content differs are written, whatever the order of keys", () => {
  test("the same content with its keys in another order is unchanged", async () => {
    await send(rich("reordered", 12));
    const again = await send(reversed(rich("reordered", 12)));
    expect(again).toMatchObject({ traces: { unchanged: 1 }, messages: { received: 12, written: 0 } });
  });

  test("a trace that grew, with its keys in another order, has only its new messages written", async () => {
    await send(rich("reordered and grown", 12));
    const grown = await send(reversed(rich("reordered and grown", 14)));
    expect(grown).toMatchObject({ traces: { updated: 1 }, messages: { received: 14, written: 2 } });
    expect((await stored("reordered and grown"))?.contents).toHaveLength(14);
  });

  test("other trace metadata, with the messages' keys in another order, writes no message", async () => {
    await send(rich("other metadata", 12));
    const changed = await send(reversed({ ...rich("other metadata", 12), metadata: { changed: true } }));
    expect(changed).toMatchObject({ traces: { updated: 1 }, messages: { written: 0 } });
    expect(await stored("other metadata")).toMatchObject({ metadata: { changed: true } });
  });

  test.each([
    ["content", { content: "other" }],
    ["role", { role: "user" }],
    ["tokenCount", { tokenCount: 3 }],
    ["createdAt", { createdAt: "2026-11-20T08:00:01Z" }],
    ["metadata", { metadata: { other: true } }],
  ])("a message of which only its %s differs is the only one written", async (field, change) => {
    const before = rich(`one ${field}`, 5);
    await send(before);
    const after = before.messages.map((message, index) => (index === 2 ? { ...message, ...change } : message));
    const changed = await send(reversed({ ...before, messages: after }));
    expect(changed).toMatchObject({ traces: { updated: 1 }, messages: { written: 1 } });
  });

  test.each([
    ["numbers", [0, -0, 1.5, -1.5e-7, 1e21, -1.25e300, 5e-324, 0.1, 123456789012345680000, 2 ** 53]],
    ["strings", ["", '\u0000\u001f\u007f\b\f\n\r\t"\\/', "é 漢 \u{1f600}", "\u2028\ud800"]],
    ["keys", { zz: 1, é: 2, a: 3, "": 4, aa: 5, 10: 6, 9: 7, "\u{1f600}": 8, constructor: 9 }],
    ["values", [true, false, null, [], {}, [[{}]], { a: { b: [] } }]],
  ])("metadata with such %s is recognized as stored", async (kind, value) => {
    const message = (position: number) => ({ position, content: "a", metadata: { value } });
    await send({ sourceId: `metadata ${kind}`, messages: [message(0), message(1)] });
    const grown = { sourceId: `metadata ${kind}`, messages: [message(2), message(1), message(0)] };
    expect(await send(grown)).toMatchObject({ traces: { updated: 1 }, messages: { written: 1 } });
  });

  test("with replace, messages that are gone are deleted and the others are left as they are", async () => {
    const before = rich("shrunk", 6);
    await send(before);
    const rest = before.messages.filter(({ position }) => position % 2 === 0);
    const shrunk = await send(reversed({ ...before, replace: true, messages: rest }));
    expect(shrunk).toMatchObject({ traces: { updated: 1 }, messages: { written: 0 } });
    expect((await stored("shrunk"))?.contents).toEqual(["message 0", "message 2", "message 4"]);
  });

  test("several changed traces of one batch each get their own messages", async () => {
    const [one, two] = [rich("several one", 3), rich("several two", 4)];
    await send(one, two);
    const changed = await send(reversed({ ...one, messages: rich("", 5).messages }), {
      ...two,
      messages: two.messages.map((message) => ({ ...message, content: "new" })),
    });
    expect(changed).toMatchObject({ traces: { updated: 2 }, messages: { written: 6 } });
    expect((await stored("several one"))?.contents).toHaveLength(5);
    expect((await stored("several two"))?.contents).toEqual(Array(4).fill("new"));
  });

  test.skipIf(countsOfOneServer)(
    "changed messages are compared without reading one table for each row of the other",
    async () => {
      const count = 2000;
      const large = (word: string) => ({
        sourceId: "large",
        messages: Array.from({ length: count }, (_, position) => ({ position, content: word })),
      });
      await send(large("before"));
      const jobId = await accept([large("after")]);
      const { bytes } = await getJob(userId, jobId);
      const { result, read } = await withStoredBatch({ userId, jobId, bytes, isRepeat: false }, (batch) =>
        transaction((tx) =>
          countRows(tx, () => mergeBatch(tx, batch, { userId, sequence: "9000000000", machine: "test" })),
        ),
      );
      expect(result).toMatchObject({ written: count });
      expect(read).toBeGreaterThan(count);
      expect(read).toBeLessThan(20 * count);
    },
  );
});

describe("why an upload left traces as stored", () => {
  const reasons = async (jobId: string) => (await getListedJob(userId, jobId)).kept;

  test("it has fewer messages than stored", async () => {
    await send({ sourceId: "shorter", messages: messages("a", "b") });
    const { jobId, kept } = await send({ sourceId: "shorter", messages: messages("a") });
    expect(kept).toEqual([{ source: "unknown", sourceId: "shorter", reason: "shorter", messageCount: 2 }]);
    expect((await getListedJob(userId, jobId)).keptTraces).toEqual(kept);
    expect(await reasons(jobId)).toEqual({ shorter: 1, newer: 0, deleted: 0 });
  });

  test("its owner had deleted them", async () => {
    await send({ sourceId: "deleted", messages: messages("a") });
    await deleteTrace(userId, (await stored("deleted"))?.id ?? "", operator);
    const { jobId, kept } = await send({ sourceId: "deleted", messages: messages("a", "b") });
    expect(kept).toMatchObject([{ sourceId: "deleted", reason: "deleted" }]);
    expect(await reasons(jobId)).toEqual({ shorter: 0, newer: 0, deleted: 1 });
  });

  test("a newer upload was processed first", async () => {
    const older = await accept([{ sourceId: "newer", messages: messages("old") }]);
    await send({ sourceId: "newer", messages: messages("new") });
    await runJob({ userId, jobId: older });
    expect(await reasons(older)).toEqual({ shorter: 0, newer: 1, deleted: 0 });
  });

  test("is not known of a job of an earlier version", async () => {
    const { jobId } = await send({ sourceId: "earlier version", messages: messages("a") });
    await pool().query(
      `update ingest_job set traces_kept = 1, traces_kept_deleted = null, traces_kept_newer = null,
         traces_kept_shorter = null where id = $1`,
      [jobId],
    );
    expect(await reasons(jobId)).toBeNull();
  });
});

test("an upload names the sessions that it created and updated and that still exist, to its owner alone", async () => {
  await send({ sourceId: "same", messages: messages("a") }, { sourceId: "grows", messages: messages("b") });
  const { jobId } = await send(
    { sourceId: "same", messages: messages("a") },
    { sourceId: "grows", messages: messages("b", "c") },
    { sourceId: "titled", title: "A title", messages: [] },
    { sourceId: "gone", messages: messages("d") },
  );
  await deleteTrace(userId, (await stored("gone"))?.id ?? "", operator);
  const sessions = await listWrittenSessions(userId, jobId, 10);
  expect(sessions.map(({ title }) => title).toSorted()).toEqual(["A title", "B"]);
  expect(await listWrittenSessions(userId, jobId, 1)).toHaveLength(1);
  const other = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
  expect(await listWrittenSessions(other, jobId, 10)).toEqual([]);
});
