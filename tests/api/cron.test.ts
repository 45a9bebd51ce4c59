import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { get, post, provideOwnedServer, operatorSecret as secret } from "../support/server.ts";
import { bearer, expectApiHeaders, expectProblem } from "./client.ts";

const { server, token } = await provideOwnedServer({ worker: false });

const call = (headers: Record<string, string> = bearer(secret), method = "POST") =>
  fetch(`${server.url}/api/cron`, { method, headers });

async function send(sourceId: string): Promise<string> {
  const traces = [{ sourceId, messages: [{ position: 0, content: "x" }] }];
  return (await (await post(server, "/api/ingest", { traces }, bearer(token))).json()).jobId;
}

const job = async (jobId: string) => (await get(server, `/api/ingest/${jobId}`, token)).json();
const statuses = async () =>
  (await pool().query("select status, count(*)::int as count from ingest_job group by status order by status")).rows;

describe("a call with the secret", () => {
  test("processes queued uploads, and returns their number", async () => {
    const jobs = await Promise.all(Array.from({ length: 12 }, (_, n) => send(`row-${n}`)));
    const response = await call();
    expect(response.status).toBe(200);
    expectApiHeaders(response.headers);
    expect(await response.json()).toEqual({ ok: true, processed: 12, drained: true });
    expect(await statuses()).toEqual([{ status: "succeeded", count: jobs.length }]);
    expect(await (await call()).json()).toEqual({ ok: true, processed: 0, drained: true });
  });

  test("may be a GET, as Vercel sends it", async () => {
    const jobId = await send("by-get");
    expect(await (await call(bearer(secret), "GET")).json()).toEqual({ ok: true, processed: 1, drained: true });
    expect(await job(jobId)).toMatchObject({ status: "succeeded" });
    expect((await call(bearer(secret), "HEAD")).status).toBe(405);
  });

  test("made ten times at once processes each upload once", async () => {
    const jobs = await Promise.all(Array.from({ length: 40 }, (_, n) => send(`at-once-${n}`)));
    const answers = await Promise.all(Array.from({ length: 10 }, async () => (await call()).json()));
    expect(answers.reduce((sum, { processed }) => sum + processed, 0)).toBe(40);
    for (const jobId of jobs) expect(await job(jobId)).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  test("takes over from a process without a heartbeat, which no worker monitors", async () => {
    const jobId = await send("silent");
    await pool().query("update ingest_job set status = 'running', attempts = 1 where id = $1", [jobId]);
    await pool().query(
      `update pgboss.job set state = 'active', started_on = now() - interval '1 minute',
         heartbeat_on = now() - interval '1 minute' where data ->> 'jobId' = $1`,
      [jobId],
    );
    // The queue entry is returned with a backoff before its next attempt.
    for (let call_ = 0; call_ < 5 && (await job(jobId)).status !== "succeeded"; call_ += 1) {
      await call();
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    expect(await job(jobId)).toMatchObject({ status: "succeeded", attempts: 2 });
  });

  test("fails jobs whose queue entries failed", async () => {
    const jobId = await send("dead");
    await pool().query("update pgboss.job set name = 'ingest-dead' where data ->> 'jobId' = $1", [jobId]);
    expect(await (await call()).json()).toMatchObject({ processed: 1 });
    expect(await job(jobId)).toMatchObject({ status: "failed", error: { code: "processing_failed" } });
  });

  test("enqueues a job without a queue entry again, and processes it", async () => {
    const jobId = await send("lost");
    await pool().query("delete from pgboss.job where data ->> 'jobId' = $1", [jobId]);
    expect(await (await call()).json()).toMatchObject({ processed: 1 });
    expect(await job(jobId)).toMatchObject({ status: "succeeded" });
  });

  test("counts as a worker for the next 60 seconds, and runs the housekeeping", async () => {
    await pool().query("delete from process_heartbeat"); // of other files' calls
    await call();
    expect((await (await get(server, "/api/ready")).json()).checks.worker).toEqual({ ok: true });
    const { rowCount } = await pool().query("select 1 from server_setting where key = 'housekeeping'");
    expect(rowCount).toBe(1);
  });
});

describe("a call without the secret", () => {
  test.each(["POST", "GET"])("is refused (%s), and nothing is processed", async (method) => {
    const jobId = await send("refused");
    for (const headers of [{}, bearer(""), { Authorization: `Basic ${secret}` }, { Authorization: secret }]) {
      const response = await call(headers, method);
      expect(response.headers.get("www-authenticate")).toBe('Bearer realm="spoor"');
      await expectProblem(response, 401, "missing_token");
    }
    for (const wrong of [`${secret}x`, secret.slice(1), token, "Bearer"]) {
      await expectProblem(await call(bearer(wrong), method), 401, "invalid_token");
    }
    expect(await job(jobId)).toMatchObject({ status: "queued" });
  });
});
