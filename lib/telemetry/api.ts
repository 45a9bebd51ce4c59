import { limits } from "#lib/core/limits";
import type { Operation } from "#lib/http/operation";
import { telemetryRequest, telemetryResponse } from "#lib/telemetry/schema";

const { telemetry } = limits;

export const sendTelemetry = {
  methods: ["POST"],
  path: "/api/cli/telemetry",
  auth: "none",
  response: telemetryResponse,
  about: {
    group: "Telemetry",
    summary: "Send a telemetry report",
    text: `Counts of a scan's parsers, never content or file names. With a valid token, the report belongs to the token's user; any other Authorization is ignored. The body has at most ${telemetry.bodyBytes / 2 ** 20} MiB, without a token ${telemetry.anonymousBodyBytes / 2 ** 10} KiB. The bytes stored per day are limited per user, or without a token per network and in total.`,
    optionalToken: true,
    sent: telemetryRequest,
    answers: {
      200: {
        text: "The number of diagnostics stored, and whether the operator's sink has already received them.",
        example: { ok: true, accepted: 1, forwarded: false },
      },
    },
    errors: {
      missing_token: "There is no token, and the server accepts no anonymous reports (`TELEMETRY_ANONYMOUS=off`).",
      invalid_token: "The token is not valid, and the server accepts no anonymous reports.",
      rate_limited: `More than ${telemetry.perMinutePerIp} reports per minute from an address, or ${telemetry.perMinutePerDevice} from a device; or the daily budget is used up (bytes, or ${telemetry.newDevicesPerDay} new devices per network or user).`,
      payload_too_large: {
        when: "The body is too large; `detail` contains the limit.",
        detail: `The body is over the limit of ${telemetry.anonymousBodyBytes} bytes.`,
      },
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
