import { describe, expect, test } from "vitest";
import { parseEnv } from "#lib/env";
import { EnvError } from "#lib/errors";

describe("the environment", () => {
  test("has defaults for everything, and an empty value means the default", () => {
    expect(parseEnv({ PORT: "", BASE_URL: "", DATABASE_URL: "" })).toMatchObject({
      PORT: 3000,
      BASE_URL: "http://localhost:3000",
      DATABASE_URL: undefined,
      INGEST_MAX_BYTES: 268_435_456,
      UPLOAD_RETENTION_DAYS: 7,
      SIGN_UP: "invitation",
      TRUSTED_PROXIES: [],
    });
  });

  test("derives BASE_URL from PORT, and removes its trailing slash", () => {
    expect(parseEnv({ PORT: "4000" }).BASE_URL).toBe("http://localhost:4000");
    expect(parseEnv({ BASE_URL: "https://spoor.example/" }).BASE_URL).toBe("https://spoor.example");
  });

  test.each([
    ["PORT", "abc"],
    ["PORT", "70000"],
    ["BASE_URL", "ftp://example.org"],
    ["BASE_URL", "nonsense"],
    ["BASE_URL", "https://example.org/spoor"],
    ["DATABASE_URL", "mysql://localhost/x"],
    ["AUTH_SECRET", "short"],
    ["SETUP_TOKEN", "short"],
    ["CRON_SECRET", "short"],
    ["SIGN_UP", "yes"],
    ["INGEST_MAX_BYTES", "1"],
    ["INGEST_MAX_BYTES", "1000000000"],
    ["UPLOAD_RETENTION_DAYS", "-1"],
    ["WORKER_CONCURRENCY", "0"],
    ["WORKER_CONCURRENCY", "1.5"],
    ["LOG_LEVEL", "loud"],
    ["TRUSTED_PROXIES", "not-an-address"],
    ["AUTH_RATE_LIMIT", "maybe"],
    ["TELEMETRY_SINK", "kafka"],
    ["TELEMETRY_SINK_URL", "ftp://sink.example"],
    ["TELEMETRY_SINK_URL", "https://user:secret@sink.example"],
    ["TELEMETRY_SINK_URL", "https://sink.example/#part"],
    ["TELEMETRY_SINK_KEY", "two\nlines"],
    ["TELEMETRY_SINK_ALLOW_PRIVATE", "yes"],
  ])("names %s where it is %j", (name, value) => {
    expect(() => parseEnv({ [name]: value })).toThrow(EnvError);
    expect(() => parseEnv({ [name]: value })).toThrow(new RegExp(`\\n {2}${name}: `));
  });

  test("names a provider's missing id or secret", () => {
    expect(() => parseEnv({ GITHUB_CLIENT_ID: "id" })).toThrow(/GITHUB_CLIENT_SECRET: must be set/);
    expect(() => parseEnv({ GOOGLE_CLIENT_SECRET: "secret" })).toThrow(/GOOGLE_CLIENT_ID: must be set/);
  });

  const sink = { TELEMETRY_SINK: "webhook", TELEMETRY_SINK_URL: "https://sink.example/hook" };
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  test.each<[missing: string, given: Record<string, string>]>([
    ["TELEMETRY_SINK", { TELEMETRY_SINK_URL: "https://sink.example" }],
    ["TELEMETRY_SINK", { TELEMETRY_SINK_KEY: "key" }],
    ["TELEMETRY_SINK_URL", { TELEMETRY_SINK: "otlp" }],
    ["TELEMETRY_SINK_KEY", { ...sink, TELEMETRY_SINK: "posthog" }],
    ["TELEMETRY_SINK_KEY", sink],
    ["TELEMETRY_SINK_KEY", { ...sink, TELEMETRY_SINK_KEY: "whsec_c2hvcnQ=" }],
    ["TELEMETRY_SINK_KEY", { ...sink, TELEMETRY_SINK_KEY: `${secret}!` }],
  ])("names %s where a sink is not whole: %j", (name, given) => {
    expect(() => parseEnv(given)).toThrow(new RegExp(`\\n {2}${name}: must be`));
  });

  test("accepts a complete sink", () => {
    expect(parseEnv({ ...sink, TELEMETRY_SINK_KEY: secret })).toMatchObject({ ...sink, TELEMETRY_SINK_KEY: secret });
    expect(parseEnv({ ...sink, TELEMETRY_SINK: "otlp" }).TELEMETRY_SINK_KEY).toBeUndefined();
  });

  test("names all invalid variables at once", () => {
    expect(() => parseEnv({ PORT: "abc", SIGN_UP: "yes" })).toThrow(/PORT: [\s\S]*SIGN_UP: /);
  });

  test("accepts addresses, networks and the names of common networks as TRUSTED_PROXIES", () => {
    expect(parseEnv({ TRUSTED_PROXIES: "10.0.0.0/8, ::1,loopback" }).TRUSTED_PROXIES).toEqual([
      "10.0.0.0/8",
      "::1",
      "loopback",
    ]);
  });
});
