import { zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { getJob } from "#lib/ingest/jobs";
import { runJob } from "#lib/ingest/process/run-job";
import { readMessages } from "#lib/messages/read-messages";
import { listTraces } from "#lib/traces/queries";
import { makeUser, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

const accept = (text: string, user = userId) =>
  acceptBatch({ userId: user, machine: "test" }, Buffer.from(text), "identity", undefined);

async function run(jobId: string, user = userId) {
  await runJob({ userId: user, jobId });
  return getJob(user, jobId);
}

const send = async (text: string) => run(await accept(text));

async function contents(sourceId: string) {
  const { traces } = await listTraces(userId, {}, { limit: 200 });
  const trace = traces.find((one) => one.sourceId === sourceId);
  const page = await readMessages(userId, trace?.id ?? "", -1, { limit: 1000 });
  return page.messages.map(({ content }) => content);
}

/** A body that is large enough to be compared with earlier ones. */
const largeBody = (sourceId: string) =>
  JSON.stringify({ traces: [{ sourceId, messages: [{ position: 0, content: "x".repeat(100_000) }] }] });

describe("the same body again", () => {
  test("is a job of its own, and changes nothing", async () => {
    const first = await accept(largeBody("again"));
    const second = await accept(largeBody("again"));
    const { rows } = await pool().query("select manifest, held_by from upload where job_id = any($1) order by job_id", [
      [first, second],
    ]);
    expect(rows[0].manifest).toEqual(rows[1].manifest);
    expect(rows.map(({ held_by }) => held_by)).toEqual([null, first]);
    expect(await run(first)).toMatchObject({
      traces: { received: 1, created: 1 },
      messages: { received: 1, written: 1 },
    });
    expect(await run(second)).toMatchObject({
      status: "succeeded",
      traces: { received: 1, unchanged: 1 },
      messages: { received: 1, written: 0 },
    });
  });

  test("replaces what was sent in between", async () => {
    await send(largeBody("between"));
    await send(JSON.stringify({ traces: [{ sourceId: "between", messages: [{ position: 0, content: "other" }] }] }));
    expect(await send(largeBody("between"))).toMatchObject({ traces: { updated: 1 }, messages: { written: 1 } });
    expect(await contents("between")).toEqual(["x".repeat(100_000)]);
  });

  test("is validated again if the first upload is gone", async () => {
    await send(largeBody("gone"));
    await pool().query("delete from upload");
    expect(await send(largeBody("gone"))).toMatchObject({ status: "succeeded", traces: { unchanged: 1 } });
  });

  test("of another user is stored for that user", async () => {
    const other = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
    await send(largeBody("own"));
    const job = await run(await accept(largeBody("own"), other), other);
    expect(job).toMatchObject({ status: "succeeded", traces: { created: 1 }, messages: { written: 1 } });
  });
});

describe("an upload whose manifest is unusable", () => {
  test.each([
    ["is missing", null],
    ["is of another version", zstdCompressSync(JSON.stringify({ version: 0, headers: [{ sourceId: "wrong" }] }))],
  ])("because it %s is read from its body", async (how, manifest) => {
    const jobId = await accept(
      JSON.stringify({ traces: [{ sourceId: how, messages: [{ position: 0, content: "a" }] }] }),
    );
    await pool().query("update upload set manifest = $2 where job_id = $1", [jobId, manifest]);
    expect(await run(jobId)).toMatchObject({ status: "succeeded", traces: { created: 1 }, messages: { written: 1 } });
    expect(await contents(how)).toEqual(["a"]);
  });
});

describe("a trace that grew", () => {
  const message = (position: number, content: string) => `{"position":${position},"content":"${content}"}`;
  const body = (sourceId: string, messages: string) =>
    `{"traces":[{"sourceId":"${sourceId}","messages":[${messages}]}]}`;
  const [a, b, c] = [message(0, "a"), message(1, "b"), message(2, "c")];

  test.each([
    ["with spaces before what is new", `${a},${b}`, `${a},${b} ,\n ${c}`, 1],
    ["spelled in another way", `${a},${b}`, `${a}, ${b}, ${c}`, 1],
    ["by another spelling of a character", `${a},${b}`, `${a},${message(1, "\\u0062")},${c}`, 1],
    ["whose messages came out of order", `${b},${a}`, `${b},${a},${c}`, 1],
    ["at its front", `${b},${c}`, `${b},${c},${a}`, 1],
    ["from nothing", "", `${a},${b},${c}`, 3],
    ["with keys that the quick reading does not take", `${a},${b}`, `${a},${b},{"position":2,"con\\u0074ent":"c"}`, 1],
  ])("%s ends as what was sent", async (how, before, after, written) => {
    await send(body(how, before));
    expect(await send(body(how, after))).toMatchObject({ traces: { updated: 1 }, messages: { written } });
    expect(await contents(how)).toEqual(["a", "b", "c"]);
    expect(await send(body(how, `${a},${b},${c}`))).toMatchObject({
      traces: { unchanged: 1 },
      messages: { written: 0 },
    });
  });
});

test("an older upload that failed does not change a trace that a newer one found unchanged", async () => {
  const text = (content: string) =>
    JSON.stringify({ traces: [{ sourceId: "late", messages: [{ position: 0, content }] }] });
  await send(text("right"));
  const older = await accept(text("outdated"));
  await send(text("right"));
  await run(older);
  expect(await contents("late")).toEqual(["right"]);
});
