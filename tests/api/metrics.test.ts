import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { get, ingest, provideOwnedServer } from "../support/server.ts";
import { bearer, expectApiHeaders, expectProblem } from "./client.ts";

const secret = "a metrics token for tests";
const { server, token } = await provideOwnedServer({ environment: { METRICS_TOKEN: secret } });

/** A scrape: every sample's name with its labels, and its value. */
async function scrape(): Promise<Map<string, number>> {
  const response = await get(server, "/api/metrics", secret);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expectApiHeaders(response.headers);
  const lines = (await response.text()).split("\n").filter((line) => line && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [, sample = "", value = ""] = /^(\S+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      return [sample, Number(value)];
    }),
  );
}

/** Counts are written once a second, and a response is cached for five. */
async function scrapeUntil(isThere: (samples: Map<string, number>) => boolean): Promise<Map<string, number>> {
  for (const deadline = Date.now() + 15_000; ; ) {
    const samples = await scrape();
    if (isThere(samples) || Date.now() > deadline) return samples;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

test("uploads, jobs and rows are those of the web and the worker process together", async () => {
  await ingest(server, token, [{ sourceId: "a", messages: [{ position: 0, content: "x" }] }]);
  await ingest(server, token, [{ sourceId: "a", messages: [{ position: 0, content: "x" }] }]);
  const samples = await scrapeUntil((found) => found.get('spoor_job_attempts_total{outcome="succeeded"}') === 2);
  expect(samples.get("spoor_ingest_uploads_total")).toBe(2);
  expect(samples.get("spoor_ingest_messages_written_total")).toBe(1);
  expect(samples.get('spoor_ingest_traces_total{outcome="created"}')).toBe(1);
  expect(samples.get('spoor_ingest_traces_total{outcome="unchanged"}')).toBe(1);
  expect(samples.get("spoor_job_duration_seconds_count")).toBe(2);
  expect(samples.get("spoor_workers")).toBe(1);
  expect(samples.get('spoor_jobs_open{status="queued"}')).toBe(0);
  expect(samples.get("spoor_database_up")).toBe(1);
});

test("the queue's depth and the age of its oldest upload are reported", async () => {
  await pool().query(
    `insert into ingest_job (user_id, id, status, machine, bytes, body_sha256, created_at, traces_received, messages_received)
     select id, gen_random_uuid(), 'queued', 'm', 0, '', now() - interval '100 seconds', 0, 0 from "user"`,
  );
  const samples = await scrapeUntil((found) => found.get('spoor_jobs_open{status="queued"}') === 1);
  expect(samples.get('spoor_jobs_oldest_seconds{status="queued"}')).toBeGreaterThanOrEqual(100);
  expect(samples.get('spoor_jobs_oldest_seconds{status="queued"}')).toBeLessThan(200);
});

test("requests are counted by the route's pattern, and never by what a client makes up", async () => {
  const id = "01900000-0000-7000-8000-000000000000";
  const paths = [`/api/traces/${id}`, "/api/made-up", "/made-up?x=made-up", `/api/traces/${id}?cursor=made-up`];
  for (const path of paths) await (await get(server, path, token)).text();
  await (await fetch(server.url + paths[0], { method: "PROPFIND" })).text();
  const text = await (await get(server, "/api/metrics", secret)).text();
  expect(text).toContain(
    'spoor_http_request_duration_seconds_count{method="GET",route="/api/traces/{id}",status="404"} 2',
  );
  expect(text).toContain('spoor_http_request_duration_seconds_count{method="GET",route="unknown",status="404"} 2');
  expect(text).toContain('method="other",route="/api/traces/{id}",status="405"');
  expect(text).not.toContain("made-up");
  expect(text).not.toContain(id);
});

test("this process's own figures are there: connections, memory, the event loop", async () => {
  const samples = await scrape();
  for (const name of ["process_resident_memory_bytes", "nodejs_eventloop_lag_seconds", "spoor_pool_waiting"]) {
    expect(samples.get(name), name).toBeGreaterThanOrEqual(0);
  }
  expect(samples.get('spoor_pool_connections{state="idle"}')).toBeGreaterThanOrEqual(1);
});

describe("a call without the token", () => {
  test("is refused, a user's own token included", async () => {
    for (const headers of [{}, bearer(""), { Authorization: `Basic ${secret}` }]) {
      await expectProblem(await fetch(`${server.url}/api/metrics`, { headers }), 401, "missing_token");
    }
    for (const wrong of [token, `${secret}x`, secret.slice(1)]) {
      const response = await fetch(`${server.url}/api/metrics`, { headers: bearer(wrong) });
      await expectProblem(response, 401, "invalid_token");
    }
  });
});
