// The route of telemetry, as lib/http/operation.ts describes a route.
import type { Operation } from "#lib/http/operation";
import { limits } from "#lib/limits";
import { telemetryRequest, telemetryResponse } from "#lib/telemetry/schema";

const { telemetry } = limits;

export const sendTelemetry = {
  methods: ["POST"],
  path: "/api/cli/telemetry",
  auth: "none",
  response: telemetryResponse,
  about: {
    group: "Telemetry",
    summary: "Tell how the parser did",
    text: `After a scan: figures only, never content or names of files. A valid token makes the report its user's; anything else in Authorization is ignored. The body has at most ${telemetry.bodyBytes / 2 ** 20} MiB.`,
    sent: telemetryRequest,
    answers: {
      200: {
        text: "So many diagnostics are on disk, and whether the operator's sink has them already.",
        example: { ok: true, accepted: 1, forwarded: false },
      },
    },
    errors: {
      rate_limited: `More than ${telemetry.perMinutePerIp} reports a minute from an address, or ${telemetry.perMinutePerDevice} of a device.`,
    },
    example: {
      body: {
        schema: 1,
        deviceId: "d-1",
        cliVersion: "1.0.0",
        platform: "linux",
        arch: "x64",
        command: "scan",
        diagnostics: [{ adapter: "claude-code", totalEntries: 120, skippedEntries: 2, unhandledTypes: ["summary"] }],
        sentAt: "2026-11-20T10:05:00Z",
        events: [{ name: "scan_finished", properties: { seconds: 3 } }],
      },
    },
  },
} satisfies Operation;
