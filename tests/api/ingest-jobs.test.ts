import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { checkStatements } from "../growth/recorded.ts";
import { get, jobEnd, logIn, makeUser, provideOwnedServer } from "../support/server.ts";
import { accepted, expectProblem, makeSender, sessionCookie, storedUploads, withoutRequestId } from "./client.ts";

const { server, token } = await provideOwnedServer();
const otherToken = await logIn(server, await makeUser({ name: "Bob", email: "bob@example.org", password: "" }));
const sendBytes = makeSender(server, token);

describe("an Idempotency-Key", () => {
  const body = JSON.stringify({ traces: [{ sourceId: "keyed", messages: [{ position: 0, content: "x" }] }] });

  test("makes the same bytes the same job, however they are encoded", async () => {
    const key = { "Idempotency-Key": "same" };
    const first = await accepted(await sendBytes(body, key));
    const before = await storedUploads();
    expect(await accepted(await sendBytes(body, key))).toBe(first);
    await jobEnd(server, first, token);
    const zipped = await sendBytes(Uint8Array.from(gzipSync(body)), { ...key, "Content-Encoding": "gzip" });
    expect(await accepted(zipped)).toBe(first);
    expect(await storedUploads()).toMatchObject({ jobs: before.jobs, uploads: before.uploads });
  });

  test("with other bytes is 422 and stores nothing", async () => {
    const key = { "Idempotency-Key": "other" };
    await accepted(await sendBytes(body, key));
    const before = await storedUploads();
    await expectProblem(await sendBytes(`${body} `, key), 422, "idempotency_key_reused");
    expect(await storedUploads()).toEqual(before);
  });

  test("belongs to one user", async () => {
    const key = { "Idempotency-Key": "mine" };
    const mine = await accepted(await sendBytes(body, key));
    const theirs = await accepted(await makeSender(server, otherToken)('{"traces":[]}', key));
    expect(theirs).not.toBe(mine);
  });

  test("may have 255 characters, and spaces inside", async () => {
    const key = { "Idempotency-Key": `a ${"~".repeat(253)}` };
    expect(await accepted(await sendBytes(body, key))).toBe(await accepted(await sendBytes(body, key)));
  });

  test("may be used again after seven days", async () => {
    const key = { "Idempotency-Key": "old" };
    const first = await accepted(await sendBytes(body, key));
    await pool().query("update ingest_job set created_at = now() - interval '7 days 1 second' where id = $1", [first]);
    expect(await accepted(await sendBytes('{"traces":[]}', key))).not.toBe(first);
  });

  test("sent fifty times at once makes one job", async () => {
    const before = await storedUploads();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => sendBytes(body, { "Idempotency-Key": "fifty" })),
    );
    const ids = await Promise.all(answers.map(accepted));
    expect(new Set(ids).size).toBe(1);
    const after = await storedUploads();
    expect([after.jobs - before.jobs, after.uploads - before.uploads]).toEqual([1, 1]);
  });

  test("of two concurrent batches is given to one, and the other is refused", async () => {
    const key = { "Idempotency-Key": "two" };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => sendBytes(n % 2 ? body : '{"traces":[]}', key)),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array(5).fill(202), ...Array(5).fill(422)]);
  });
});

describe("a job", () => {
  test("has the contract's fields and no others", async () => {
    const body = JSON.stringify({ traces: [{ sourceId: "job", messages: [{ position: 0, content: "x" }] }] });
    const jobId = await accepted(await sendBytes(body));
    await jobEnd(server, jobId, token);
    const job = await (await get(server, `/api/ingest/${jobId}`, token)).json();
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(job).toEqual({
      ok: true,
      jobId,
      status: "succeeded",
      attempts: 1,
      createdAt: time,
      startedAt: time,
      finishedAt: time,
      bytes: body.length,
      traces: { received: 1, created: 1, updated: 0, unchanged: 0, kept: 0, incomplete: 0 },
      messages: { received: 1, written: 1 },
      error: null,
    });
  });

  test("is readable with its sender's token or cookie and missing for everybody else", async () => {
    const jobId = await accepted(await sendBytes('{"traces":[]}'));
    const cookie = await sessionCookie(server);
    const read = await fetch(`${server.url}/api/ingest/${jobId}`, { headers: { Cookie: cookie } });
    expect(await read.json()).toMatchObject({ ok: true, jobId });
    const missing = "01900000-0000-7000-8000-000000000000";
    const [theirs, nobodys] = [
      await get(server, `/api/ingest/${jobId}`, otherToken),
      await get(server, `/api/ingest/${missing}`, otherToken),
    ];
    expect([theirs.status, nobodys.status]).toEqual([404, 404]);
    expect(await withoutRequestId(theirs)).toEqual(await withoutRequestId(nobodys));
  });

  test.each(["1", "not-a-uuid", "01900000-0000-7000-8000-00000000000", "%00", "' or 1=1"])(
    "with the id %s is missing",
    async (id) => {
      await expectProblem(await get(server, `/api/ingest/${encodeURIComponent(id)}`, token), 404, "not_found");
    },
  );
});

test("what the server's processes ask the database is recorded, and checked for what a distributed one refuses", async () => {
  const asked = server.statements();
  for (const by of ["insert into upload", "status = 'running'"])
    expect(asked.some((text) => text.includes(by))).toBe(true);
  await checkStatements(asked);
  await expect(checkStatements([...asked, "delete from upload"])).rejects.toThrow("go user by user");
});
