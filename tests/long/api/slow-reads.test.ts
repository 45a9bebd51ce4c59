import { expect, test } from "vitest";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { sessionCookie } from "../../api/client.ts";
import { get, provideOwnedServer } from "../../support/server.ts";

const { server } = await provideOwnedServer({ worker: false });
const cookie = await sessionCookie(server);
const { statementSeconds } = limits.reads;

test("a page whose read takes too long is a 503 that says so, and others are answered meanwhile", async () => {
  const open = async (path: string) => {
    const startedAt = performance.now();
    const response = await fetch(server.url + path, { headers: { Cookie: cookie } });
    const text = await response.text();
    const { status, headers } = response;
    return { status, retryAfter: headers.get("retry-after"), text, seconds: (performance.now() - startedAt) / 1000 };
  };
  const locked = await pool().connect();
  await locked.query("begin; lock table trace, trace_usage in access exclusive mode");
  try {
    const reading = Promise.all(["/traces", "/traces?q=word", "/usage"].map(open));
    expect((await open("/devices")).status).toBe(200);
    expect((await get(server, "/api/health")).status).toBe(200);
    const pages = await reading;
    expect(pages.map(({ status, retryAfter }) => [status, retryAfter])).toEqual(pages.map(() => [503, "5"]));
    for (const { seconds } of pages) expect(seconds).toBeLessThan(2 * statementSeconds);
    expect(pages[1]?.text).toContain("This search took too long and was stopped.");
  } finally {
    await locked.query("rollback");
    locked.release();
  }
  expect((await open("/traces")).status).toBe(200);
});
