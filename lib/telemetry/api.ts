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
    text: `How the parsers did in a scan: counts only, never content or file names. With a valid token the report belongs to the token's user; any other Authorization is ignored. The body has at most ${telemetry.bodyBytes / 2 ** 20} MiB, without a token ${telemetry.anonymousBodyBytes / 2 ** 10} KiB. What is stored in a day is limited: by user, and without a token by network and for all such reports together.`,
    optionalToken: true,
    sent: telemetryRequest,
    answers: {
      200: {
        text: "The number of diagnostics stored, and whether the operator's sink has already received them.",
        example: { ok: true, accepted: 1, forwarded: false },
      },
    },
    errors: {
      missing_token: "There is no token, and the server takes no anonymous reports (`TELEMETRY_ANONYMOUS=off`).",
      invalid_token: "The token is not valid, and the server takes no anonymous reports.",
      rate_limited: `More than ${telemetry.perMinutePerIp} reports a minute from one address, or ${telemetry.perMinutePerDevice} from one device of a user, or without a token; or a budget of the day is used up: of bytes, or of ${telemetry.newDevicesPerDay} new devices of one network or user.`,
      payload_too_large: {
        when: "The body is over its limit, which `detail` has.",
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
