import { afterAll, beforeEach } from "vitest";
import { setEnv } from "#lib/core/env";
import { pool } from "#lib/db/client";
import { recordTelemetry } from "#lib/telemetry/record";
import { telemetryRequest } from "#lib/telemetry/schema";
import { enableSinks } from "#lib/telemetry/sink";
import { provideOwner } from "../support/server.ts";
import { startSink, status } from "../support/sink.ts";

export const scan = { schema: 1, cliVersion: "1.4.2", platform: "linux", arch: "x64", command: "scan" };
export const forwarded = { ok: true, accepted: 1, forwarded: true };
export const notForwarded = { ...forwarded, forwarded: false };

/** A database and a webhook sink for the test file that awaits it; before each test the outbox is empty and the sink answers 200. */
export async function provideForwarding() {
  const { userId } = await provideOwner();
  const sink = await startSink();
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

  /** Sets the sink's environment: the webhook, but for the given variables. */
  const use = (more: Record<string, string | undefined> = {}) =>
    setEnv({ TELEMETRY_SINK: "webhook", TELEMETRY_SINK_URL: `${sink.url}/hook`, TELEMETRY_SINK_KEY: secret, ...more });

  function submit(more: object = {}) {
    const body = { ...scan, deviceId: "device-1", diagnostics: [{ adapter: "codex", unhandledTypes: ["x"] }], ...more };
    return recordTelemetry(telemetryRequest.parse(body), { userId, machine: "ada-laptop" });
  }

  afterAll(() => sink.stop());
  beforeEach(async () => {
    await pool().query("delete from telemetry_report");
    await enableSinks();
    use();
    sink.got.length = 0;
    sink.atOnce = 0;
    sink.answer = status(200);
  });
  return { userId, sink, secret, use, submit };
}

export const readOutbox = async () =>
  (
    await pool().query<{ attempts: number; seconds: number }>(
      "select attempts, extract(epoch from due_at - now())::float8 as seconds from forward_outbox",
    )
  ).rows;

/** Moves the outbox and a paused sink into the past, as if so much time had passed. */
export async function pass(seconds: number): Promise<void> {
  await pool().query(
    "update forward_outbox set due_at = due_at - make_interval(secs => $1), created_at = created_at - make_interval(secs => $1)",
    [seconds],
  );
  await pool().query(
    "update server_setting set updated_at = updated_at - make_interval(secs => $1) where key = 'telemetry_sink_paused'",
    [seconds],
  );
}
