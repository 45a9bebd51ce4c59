import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { forwardDue } from "#lib/telemetry/forward";
import { status } from "../support/sink.ts";
import { forwarded, notForwarded, pass, provideForwarding, scan } from "./forwarding.ts";

const { userId, sink, secret, use, submit } = await provideForwarding();

describe("a forwarded report", () => {
  const events = [{ name: "$identify", properties: { $set: { email: "x" }, distinct_id: "other" } }];

  test("to a webhook is signed as Standard Webhooks asks, and contains only metadata", async () => {
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

  test("to PostHog is a batch with stable ids, in which a client chooses no event name and no person", async () => {
    use({ TELEMETRY_SINK: "posthog", TELEMETRY_SINK_URL: sink.url, TELEMETRY_SINK_KEY: "phc_key" });
    sink.answer = status(502);
    expect(await submit({ events })).toEqual(notForwarded);
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

  test("over OTLP is sent as logs by the SDK's exporter, with the given key", async () => {
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

  test("may contain any text, at every limit", async () => {
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
