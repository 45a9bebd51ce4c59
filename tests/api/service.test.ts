import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { sha256 } from "#lib/core/digest";
import { limits } from "#lib/core/limits";
import { pool } from "#lib/db/client";
import { get, logIn, makeUser, post, provideServer } from "../support/server.ts";
import { bearer, expectApiHeaders, expectProblem, unknownToken } from "./client.ts";

const server = await provideServer({
  worker: false,
  environment: {
    INGEST_MAX_BYTES: "5000000",
    INGEST_MAX_WIRE_BYTES: "3000000",
    UPLOAD_RETENTION_DAYS: "3",
    USER_QUOTA_BYTES: "7000000",
    TELEMETRY_ANONYMOUS: "off",
  },
});

const token = await logIn(server, await makeUser());

test("health is answered while the process lives", async () => {
  const response = await get(server, "/api/health");
  expect([response.status, await response.json()]).toEqual([200, { ok: true }]);
});

test("readiness reports each check, and a worker counts for the 60 seconds after it was seen", async () => {
  const worker = (secondsAgo: number) =>
    pool().query(
      `insert into process_heartbeat (id, role, seen_at) values (gen_random_uuid(), 'worker', now() - make_interval(secs => $1))`,
      [secondsAgo],
    );
  const well = { ok: true };
  for (const secondsAgo of [undefined, 61]) {
    if (secondsAgo !== undefined) await worker(secondsAgo);
    const response = await get(server, "/api/ready");
    expect(response.status).toBe(503);
    expectApiHeaders(response.headers);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(await response.json()).toEqual({
      ok: false,
      checks: { database: well, migrations: well, worker: { ok: false, detail: expect.any(String) } },
    });
  }
  await worker(50);
  const response = await get(server, "/api/ready");
  expect([response.status, await response.json()]).toEqual([
    200,
    { ok: true, checks: { database: well, migrations: well, worker: well } },
  ]);
});

test("every limit can be read", async () => {
  const read = await (await get(server, "/api/limits")).json();
  const {
    maxNesting,
    maxValues,
    maxAuthBodyBytes,
    maxPageBodyBytes,
    trace,
    message,
    body,
    ingest,
    pictures,
    originals,
    ...others
  } = limits;
  expect(read).toMatchObject({
    ...others,
    ingest: { ...ingest, maxFormBytes: 3_000_000, trace, message, nesting: maxNesting },
    pictures: { ...pictures, bytes: 3_000_000 },
    originals: { ...originals, partBytes: 3_000_000 },
    body: { ...body, maxNesting, maxValues, maxAuthBodyBytes, maxPageBodyBytes },
  });
});

test("the limits are those of the card and of the contract, with the operator's own in place", async () => {
  const response = await get(server, "/api/limits");
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    ok: true,
    ingest: {
      wireBytes: 3_000_000,
      maxFormBytes: 3_000_000,
      decodedBytes: 5_000_000,
      traces: 1000,
      messagesPerTrace: 50_000,
      nesting: 64,
      idempotencyKeyCharacters: 255,
      maxZstdWindowBytes: 8 << 20,
      maxZstdFrames: 1024,
      trace: { sourceId: 512, source: 128, model: 256, title: 512, project: 256 },
      message: { role: 32, integer: 2_147_483_647 },
    },
    telemetry: {
      deviceId: 128,
      cliVersion: 32,
      platform: 32,
      arch: 32,
      command: 64,
      sentAt: 40,
      diagnostics: 200,
      events: 50,
      bodyBytes: 1 << 20,
    },
    traces: { query: 512, queryWords: 32, queryFiles: 8, queryFilters: 8, cursor: 256 },
    request: { headerBytes: 16_384, seconds: 60 },
    device: { machine: 256, bodyBytes: 4096, expiresInSeconds: 600, intervalSeconds: 5 },
    uploadRetentionDays: 3,
    userQuotaBytes: 7_000_000,
  });
});

test("the client's SHA-256 is that of /spoor.mjs as it is delivered", async () => {
  const { client } = await (await get(server, "/api/limits")).json();
  const text = Buffer.from(await (await get(server, "/spoor.mjs")).arrayBuffer());
  const { version } = JSON.parse(await readFile("package.json", "utf8"));
  expect(client).toEqual({ version, sha256: sha256(text).toString("hex"), bytes: text.length });
  expect(text.toString()).toContain(`"${server.url}"`);
});

test("a body over INGEST_MAX_WIRE_BYTES is refused with the figure, however it is compressed", async () => {
  const send = (size: number) => post(server, "/api/ingest", "x".repeat(size), bearer(token));
  const problem = await expectProblem(await send(3_000_001), 413, "payload_too_large");
  expect(problem.detail).toContain("3000000");
  await expectProblem(await send(3_000_000), 400, "invalid_json");
});

test("with TELEMETRY_ANONYMOUS=off telemetry needs a valid token", async () => {
  const report = { schema: 1, deviceId: "d", cliVersion: "1", platform: "p", arch: "a", command: "c", diagnostics: [] };
  const send = (headers: Record<string, string>) => post(server, "/api/cli/telemetry", report, headers);
  await expectProblem(await send({}), 401, "missing_token");
  await expectProblem(await send(bearer(unknownToken())), 401, "invalid_token");
  expect((await send(bearer(token))).status).toBe(200);
});
