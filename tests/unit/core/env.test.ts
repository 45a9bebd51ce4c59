import { describe, expect, test } from "vitest";
import { parseEnv } from "#lib/core/env";
import { EnvError } from "#lib/core/errors";

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

  const onVercel = {
    VERCEL: "1",
    VERCEL_ENV: "production",
    VERCEL_PROJECT_PRODUCTION_URL: "spoor.example",
    VERCEL_URL: "spoor-abc123.vercel.app",
    DATABASE_URL: "postgres://x/y",
    AUTH_SECRET: "a secret for tests only, 32 characters",
    SETUP_TOKEN: "a set-up token for tests",
  };

  test("derives BASE_URL from the platform's variables: a preview is at its own address", () => {
    expect(parseEnv(onVercel).BASE_URL).toBe("https://spoor.example");
    expect(parseEnv({ ...onVercel, VERCEL_ENV: "preview" }).BASE_URL).toBe("https://spoor-abc123.vercel.app");
    expect(parseEnv({ ...onVercel, VERCEL_PROJECT_PRODUCTION_URL: "" }).BASE_URL).toMatch(/spoor-abc123/);
    expect(parseEnv({ ...onVercel, BASE_URL: "https://own.example" }).BASE_URL).toBe("https://own.example");
    expect(parseEnv({ VERCEL_URL: "spoor-abc123.vercel.app" }).BASE_URL).toBe("http://localhost:3000");
  });

  test.each(["DATABASE_URL", "AUTH_SECRET", "SETUP_TOKEN"])("demands %s on Vercel", (name) => {
    expect(() => parseEnv({ ...onVercel, [name]: "" })).toThrow(`\n  ${name}: must be set on Vercel`);
  });

  test("limits uploads to what a function host takes, unless told otherwise", () => {
    expect(parseEnv({}).INGEST_MAX_WIRE_BYTES).toBe(64 << 20);
    expect(parseEnv(onVercel).INGEST_MAX_WIRE_BYTES).toBe(4_000_000);
    expect(parseEnv({ AWS_LAMBDA_FUNCTION_NAME: "spoor" }).INGEST_MAX_WIRE_BYTES).toBe(4_000_000);
    expect(parseEnv({ ...onVercel, INGEST_MAX_WIRE_BYTES: "2000" }).INGEST_MAX_WIRE_BYTES).toBe(2000);
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
    ["INGEST_MAX_WIRE_BYTES", "100"],
    ["INGEST_MAX_WIRE_BYTES", "4MB"],
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

  test.each([
    ["UPLOAD_STORE", { UPLOAD_STORE: "disk" }],
    ["UPLOAD_S3_BUCKET", { UPLOAD_STORE: "s3" }],
    ["UPLOAD_S3_ENDPOINT", { UPLOAD_S3_ENDPOINT: "minio:9000" }],
    ["UPLOAD_S3_PREFIX", { UPLOAD_S3_PREFIX: "no-slash" }],
    ["UPLOAD_S3_SECRET_ACCESS_KEY", { UPLOAD_STORE: "s3", UPLOAD_S3_BUCKET: "b", UPLOAD_S3_ACCESS_KEY_ID: "id" }],
  ])("names %s where a store is not whole: %j", (name, given) => {
    expect(() => parseEnv(given)).toThrow(new RegExp(`\\n {2}${name}: must be`));
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
