import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { listObjects } from "#lib/storage/s3";
import { accepted, bearer, expectProblem, makeSender, sessionCookie } from "../../api/client.ts";
import { until } from "../../faults/wait.ts";
import { residentBytes } from "../../support/resident.ts";
import { startS3 } from "../../support/s3.ts";
import { get, jobEnd, provideOwnedServer, setupToken } from "../../support/server.ts";

const s3 = await startS3();
afterAll(s3.stop);
const environment = { ...s3.settings, CRON_SECRET: setupToken };
const { server, userId, token } = await provideOwnedServer({ environment });
setEnv(s3.settings);
const send = makeSender(server, token);
const MiB = 2 ** 20;

/** A body of about so many bytes that can't be compressed much. */
const makeBody = (sourceId: string, bytes: number) => {
  const part = Math.ceil(bytes / 20);
  const messages = Array.from({ length: 20 }, (_, position) => ({
    position,
    content: randomBytes((part * 3) / 4).toString("base64"),
  }));
  return JSON.stringify({ traces: [{ sourceId, messages }] });
};
const keys = async () => (await listObjects("")).map(({ key }) => key).toSorted();
const makeKey = (jobId: string) => `uploads/${userId}/${jobId}.zst`;
const succeeded = { status: "succeeded", traces: { created: 1 } };

test("bodies go to the store; while it is away uploads are 503 and nothing is lost, and afterwards all goes on", async () => {
  const body = makeBody("first", 300_000);
  const first = await accepted(await send(body));
  expect(await jobEnd(server, first, token)).toMatchObject(succeeded);
  expect(await keys()).toEqual([makeKey(first)]);

  await s3.kill();
  const begun = performance.now();
  const refuse = async (bytes: number) => expectProblem(await send(makeBody("second", bytes)), 503, "unavailable");
  await Promise.all([refuse(300_000), refuse(20_000)]);
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect((await get(server, "/api/health")).status).toBe(200);
  const { rows } = await pool().query("select count(*)::int as jobs from ingest_job");
  expect(rows).toEqual([{ jobs: 1 }]);

  await s3.restart();
  const second = await accepted(await send(makeBody("second", 20_000)));
  expect(await jobEnd(server, second, token)).toMatchObject(succeeded);
  expect(await keys()).toEqual([makeKey(first), makeKey(second)].toSorted());
  const headers = { Cookie: await sessionCookie(server) };
  expect(await (await fetch(`${server.url}/api/ingest/${first}/raw`, { headers })).text()).toBe(body);

  await pool().query("update ingest_job set finished_at = now() - interval '8 days' where id = $1", [first]);
  expect((await fetch(`${server.url}/api/cron`, { headers: bearer(setupToken) })).status).toBe(200);
  await until(30, "the body that is over is gone", async () => (await keys()).join() === makeKey(second));
});

test("three bodies of 60 MB take the web process less than 400 MiB", { timeout: 180_000 }, async () => {
  const bodies = ["large-1", "large-2", "large-3"].map((sourceId) => makeBody(sourceId, 60e6));
  const before = residentBytes("server/web.");
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentBytes("server/web."));
  }, 50);
  try {
    for (const body of bodies) {
      const jobId = await accepted(await send(body));
      expect(await jobEnd(server, jobId, token)).toMatchObject(succeeded);
    }
  } finally {
    clearInterval(sampling);
  }
  process.stdout.write(`S3: three bodies of 60 MB took ${Math.round((peak - before) / MiB)} MiB\n`);
  expect(peak - before).toBeLessThan(400 * MiB);
});
