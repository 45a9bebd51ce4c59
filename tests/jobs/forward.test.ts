import { lookup } from "node:dns/promises";
import { hostname } from "node:os";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { setEnv } from "#lib/env";
import { forwardDue } from "#lib/telemetry/forward";
import { recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { enableSinks, readSinkDisabledAt } from "#lib/telemetry/sink-state";
import { provideOwner } from "../support/server.ts";
import { startSink, status } from "../support/sink.ts";

const { userId } = await provideOwner();
const sink = await startSink();
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
afterAll(() => sink.stop());

const use = (more: Record<string, string | undefined> = {}) =>
  setEnv({ TELEMETRY_SINK: "webhook", TELEMETRY_SINK_URL: `${sink.url}/hook`, TELEMETRY_SINK_KEY: secret, ...more });

beforeEach(async () => {
  await pool().query("delete from telemetry_report");
  await enableSinks();
  use();
  sink.got.length = 0;
  sink.atOnce = 0;
  sink.answer = status(200);
});

const ownAddress = await lookup(hostname()).then(
  ({ address }) => address,
  () => undefined,
);

const scan = { schema: 1, cliVersion: "1.4.2", platform: "linux", arch: "x64", command: "scan" };

function submit(more: object = {}) {
  const body = { ...scan, deviceId: "device-1", diagnostics: [{ adapter: "codex", unhandledTypes: ["x"] }], ...more };
  return recordTelemetry(telemetryRequest.parse(body), { userId, machine: "ada-laptop" });
}

const outbox = async () =>
  (
    await pool().query<{ attempts: number; seconds: number }>(
      "select attempts, extract(epoch from due_at - now())::float8 as seconds from forward_outbox",
    )
  ).rows;

/** Lets so much time pass for what waits. */
const pass = async (seconds: number) => {
  await pool().query(
    "update forward_outbox set due_at = due_at - make_interval(secs => $1), created_at = created_at - make_interval(secs => $1)",
    [seconds],
  );
  await pool().query(
    "update server_setting set updated_at = updated_at - make_interval(secs => $1) where key = 'telemetry_sink_paused'",
    [seconds],
  );
};

const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const startedAt = performance.now();
  return [await work(), performance.now() - startedAt];
};

const forwarded = { ok: true, accepted: 1, forwarded: true };
const notYet = { ...forwarded, forwarded: false };
const idOf = (at: number) => sink.got[at]?.headers["webhook-id"];
/** The system's own ports answer nobody. */
const nowhere = "http://127.0.0.1:1/hook";

describe("a submission", () => {
  test("is in no outbox where there is no sink", async () => {
    use({ TELEMETRY_SINK: undefined, TELEMETRY_SINK_URL: undefined, TELEMETRY_SINK_KEY: undefined });
    expect(await submit()).toEqual(notYet);
    expect(await outbox()).toEqual([]);
  });

  test("is forwarded before the answer where the sink takes it, and then no more", async () => {
    expect(await submit()).toEqual(forwarded);
    expect(await outbox()).toEqual([]);
    expect(await forwardDue()).toBe(0);
    expect(sink.got.length).toBe(1);
  });

  test("of a deleted account is not forwarded any more", async () => {
    sink.answer = status(500);
    await submit();
    await pool().query("delete from telemetry_report");
    await pass(60);
    expect([await forwardDue(), await outbox(), sink.got.length]).toEqual([0, [], 1]);
  });
});

describe("a sink that is", () => {
  test("slow is not waited for: 1.5 s at most, and delivered later under the same id", async () => {
    sink.answer = () => {};
    const [answer, ms] = await timed(submit);
    expect(answer).toEqual(notYet);
    expect(ms).toBeLessThan(1700);
    sink.answer = status(204);
    await pass(60);
    expect(await forwardDue()).toBe(1);
    expect([idOf(0), await outbox()]).toEqual([idOf(1), []]);
  });

  test("slow in its answer's body has answered", async () => {
    sink.answer = (response) => void response.writeHead(200).write("x".repeat(100_000));
    expect(await submit()).toEqual(forwarded);
  });

  test("down is tried again, each time later, and gets it when it is back", async () => {
    use({ TELEMETRY_SINK_URL: nowhere });
    expect(await submit()).toEqual(notYet);
    for (const [attempts, min, max] of [
      [1, 5, 10],
      [2, 10, 20],
      [3, 20, 40],
    ] as const) {
      const [row] = await outbox();
      expect(row?.attempts).toBe(attempts);
      expect(row?.seconds).toBeGreaterThan(min - 1);
      expect(row?.seconds).toBeLessThanOrEqual(max);
      await pass(max);
      if (attempts === 3) use();
      expect(await forwardDue()).toBe(attempts === 3 ? 1 : 0);
    }
    expect(await outbox()).toEqual([]);
  });

  test("broken (500) is tried again for three days, and then no more", async () => {
    sink.answer = status(500);
    expect(await submit()).toEqual(notYet);
    await pass(3 * 86_400 - 60);
    await forwardDue();
    expect((await outbox()).length).toBe(1);
    await pass(120);
    expect([await forwardDue(), await outbox()]).toEqual([0, []]);
    expect(sink.got.length).toBe(2);
  });

  test.each([400, 401, 404, 413, 422])("refusing it with %i does not get it again", async (code) => {
    sink.answer = status(code);
    expect(await submit()).toEqual(notYet);
    expect(await outbox()).toEqual([]);
  });

  test("redirecting is not followed", async () => {
    const elsewhere = await startSink();
    sink.answer = status(307, { Location: `${elsewhere.url}/hook` });
    expect(await submit()).toEqual(notYet);
    expect([elsewhere.got, (await outbox()).length]).toEqual([[], 1]);
    await elsewhere.stop();
  });

  test.each<[string, number, number]>([
    ["120", 110, 120],
    [new Date(Date.now() + 600_000).toUTCString(), 560, 600],
    ["999999999", 21_590, 21_600],
    ["nonsense", 9, 10],
  ])("busy with Retry-After %s is left alone for as long", async (retryAfter, min, max) => {
    for (const code of [429, 503]) {
      await enableSinks();
      sink.got.length = 0;
      sink.answer = status(code, { "Retry-After": retryAfter });
      expect(await submit()).toEqual(notYet);
      const [row] = await outbox();
      expect(row?.seconds).toBeGreaterThan(min - 2);
      expect(row?.seconds).toBeLessThanOrEqual(max);
      sink.answer = status(200);
      expect(await submit({ deviceId: "another" })).toEqual(notYet); // nobody else's is sent either
      await pass(min - 5);
      expect([await forwardDue(), sink.got.length]).toEqual([0, 1]);
      await pass(max - min + 10);
      expect(await forwardDue()).toBe(2);
    }
  });

  test("gone (410) is asked no more, until a restart or other settings", async () => {
    sink.answer = status(410);
    expect(await submit()).toEqual(notYet);
    expect(await readSinkDisabledAt()).toBeInstanceOf(Date);
    sink.answer = status(200);
    expect(await submit()).toEqual(notYet);
    await pass(60);
    expect([await forwardDue(), sink.got.length]).toEqual([0, 1]);
    use({ TELEMETRY_SINK_URL: `${sink.url}/new` });
    expect(await readSinkDisabledAt()).toBeUndefined();
    expect(await submit()).toEqual(forwarded);
    use();
    expect(await submit()).toEqual(notYet);
    await enableSinks(); // what a start does
    expect(await readSinkDisabledAt()).toBeUndefined();
    expect(await forwardDue()).toBe(3);
  });
});

describe("forwarding", () => {
  test("sends nothing twice where many look at once, and only some at a time", async () => {
    use({ TELEMETRY_SINK_URL: nowhere });
    await Promise.all(Array.from({ length: 40 }, (_, n) => submit({ deviceId: `device-${n}` })));
    await pass(60);
    use();
    sink.answer = (response) => void setTimeout(() => response.writeHead(200).end(), 30);
    const counts = await Promise.all([forwardDue(), forwardDue()]);
    expect(counts.reduce((a, b) => a + b)).toBe(40);
    expect(new Set(sink.got.map(({ headers }) => headers["webhook-id"])).size).toBe(40);
    expect(sink.got.length).toBe(40);
    expect(sink.atOnce).toBeLessThanOrEqual(8);
  });

  test("leaves what a process took to it, and takes it over when that died", async () => {
    sink.answer = status(500);
    await submit();
    // As a process leaves a row that dies between the sink's 2xx and its note.
    await pool().query("update forward_outbox set due_at = now() + interval '30 seconds'");
    sink.answer = status(200);
    expect(await forwardDue()).toBe(0);
    await pass(31);
    expect(await forwardDue()).toBe(1);
    expect(idOf(1)).toBe(idOf(0));
  });

  test("waits with 16 submissions at once, and leaves the others to the worker", async () => {
    sink.answer = () => {};
    const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => submit({ deviceId: `many-${n}` })));
    expect(answers).toEqual(Array(24).fill(notYet));
    expect(sink.got.length).toBe(16);
    expect((await outbox()).length).toBe(24);
  });

  test("goes to localhost where the operator named it", async () => {
    use({ TELEMETRY_SINK_URL: `http://localhost:${sink.port}/hook` });
    expect(await submit()).toEqual(forwarded);
  });

  test.skipIf(ownAddress !== "127.0.0.1")("reaches no private address by a name, unless it is allowed", async () => {
    use({ TELEMETRY_SINK_URL: `http://${hostname()}:${sink.port}/hook` });
    expect(await submit()).toEqual(notYet);
    await pass(60);
    expect([await forwardDue(), sink.got]).toEqual([0, []]);
    use({ TELEMETRY_SINK_URL: `http://${hostname()}:${sink.port}/hook`, TELEMETRY_SINK_ALLOW_PRIVATE: "1" });
    expect(await submit()).toEqual(forwarded);
    use({ TELEMETRY_SINK_ALLOW_PRIVATE: undefined });
  });
});

describe("what is sent", () => {
  const events = [{ name: "$identify", properties: { $set: { email: "x" }, distinct_id: "other" } }];

  test("to a webhook is signed after Standard Webhooks, and is metadata alone", async () => {
    await submit({ events, sentAt: "2026-11-21T10:00:00Z" });
    const [{ method, path, headers, body }] = sink.got as [(typeof sink.got)[0]];
    expect([method, path]).toEqual(["POST", "/hook"]);
    const message = new Webhook(secret).verify(body, headers as Record<string, string>);
    expect(() => new Webhook(secret).verify(`${body} `, headers as Record<string, string>)).toThrow();
    const { rows } = await pool().query("select id, received_at from telemetry_report");
    expect(headers["webhook-id"]).toBe(rows[0].id);
    expect(message).toEqual({
      type: "telemetry.received",
      timestamp: rows[0].received_at.toISOString(),
      data: {
        id: rows[0].id,
        ...scan,
        deviceId: "device-1",
        sentAt: "2026-11-21T10:00:00Z",
        diagnostics: [
          {
            adapter: "codex",
            source: null,
            totalEntries: 0,
            skippedEntries: 0,
            invalidEntries: 0,
            eventCount: 0,
            traceCount: 0,
            rejectedTraces: 0,
            unhandledTypes: ["x"],
            emptyParse: false,
          },
        ],
        events,
      },
    });
  });

  test.each(["webhook", "posthog", "otlp"])("to %s names no user, no machine and no address", async (kind) => {
    use({ TELEMETRY_SINK: kind });
    expect(await submit()).toEqual(forwarded);
    const text = JSON.stringify(sink.got);
    for (const secretText of [userId, "ada-laptop", "ada@example.org", "Ada"]) expect(text).not.toContain(secretText);
  });

  test("to PostHog is a batch whose ids stay the same, with no event or person of a client's choice", async () => {
    use({ TELEMETRY_SINK: "posthog", TELEMETRY_SINK_URL: sink.url, TELEMETRY_SINK_KEY: "phc_key" });
    sink.answer = status(502);
    expect(await submit({ events })).toEqual(notYet);
    sink.answer = status(200);
    await pass(60);
    expect(await forwardDue()).toBe(1);
    expect(sink.got[1]).toMatchObject({ path: "/batch/", body: sink.got[0]?.body });
    const { api_key, batch } = JSON.parse(sink.got[0]?.body ?? "");
    const { rows } = await pool().query("select id, received_at from telemetry_report");
    const common = {
      distinct_id: "device-1",
      timestamp: rows[0].received_at.toISOString(),
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5/),
    };
    const properties = { reportId: rows[0].id, cliVersion: "1.4.2", $process_person_profile: false };
    expect(api_key).toBe("phc_key");
    expect(batch).toMatchObject([
      { ...common, event: "spoor scan", properties: { ...properties, command: "scan" } },
      { ...common, event: "spoor diagnostic", properties: { ...properties, adapter: "codex" } },
      {
        ...common,
        event: "spoor client event",
        properties: { ...properties, eventName: "$identify", eventProperties: events[0]?.properties },
      },
    ]);
    expect(new Set(batch.map(({ uuid }: { uuid: string }) => uuid)).size).toBe(3);
    for (const { properties: own } of batch) expect(own).not.toHaveProperty("$set");
  });

  test("over OTLP are logs of the SDK's exporter, under the key as it is given", async () => {
    setEnv({ OTEL_EXPORTER_OTLP_HEADERS: "x-other=secret" });
    use({ TELEMETRY_SINK: "otlp", TELEMETRY_SINK_URL: `${sink.url}/otlp`, TELEMETRY_SINK_KEY: "key" });
    expect(await submit({ events })).toEqual(forwarded);
    use({ TELEMETRY_SINK: "otlp", TELEMETRY_SINK_URL: `${sink.url}/v1/logs`, TELEMETRY_SINK_KEY: "Basic abc" });
    expect(await submit()).toEqual(forwarded);
    setEnv({ OTEL_EXPORTER_OTLP_HEADERS: undefined });
    const [first, second] = sink.got;
    expect([first?.path, first?.headers.authorization]).toEqual(["/otlp/v1/logs", "Bearer key"]);
    expect([second?.path, second?.headers.authorization]).toEqual(["/v1/logs", "Basic abc"]);
    expect(JSON.stringify(sink.got)).not.toContain("x-other");
    const { resourceLogs } = JSON.parse(first?.body ?? "");
    expect(resourceLogs[0].resource.attributes).toEqual([{ key: "service.name", value: { stringValue: "spoor" } }]);
    const { logRecords, scope } = resourceLogs[0].scopeLogs[0];
    expect(scope.name).toBe("spoor.telemetry");
    expect(logRecords.map(({ eventName }: { eventName: string }) => eventName)).toEqual([
      "spoor.scan",
      "spoor.diagnostic",
      "spoor.client.event",
    ]);
    expect(logRecords[1].attributes).toEqual(
      expect.arrayContaining([
        { key: "device.id", value: { stringValue: "device-1" } },
        { key: "adapter", value: { stringValue: "codex" } },
        { key: "unhandledTypes", value: { arrayValue: { values: [{ stringValue: "x" }] } } },
        { key: "emptyParse", value: { boolValue: false } },
      ]),
    );
  });

  test("holds any text, at every limit", async () => {
    const odd = '\u0001\u202e\n"<script>';
    const diagnostics = Array.from({ length: 200 }, () => ({
      adapter: "__proto__",
      traceCount: Number.MAX_SAFE_INTEGER,
      unhandledTypes: ["__proto__", odd],
    }));
    for (const kind of ["webhook", "posthog", "otlp"]) {
      use({ TELEMETRY_SINK: kind });
      expect(await submit({ diagnostics, command: odd })).toEqual({ ...forwarded, accepted: 200 });
      expect(sink.got.at(-1)?.body).toContain("9007199254740991");
    }
  });
});
