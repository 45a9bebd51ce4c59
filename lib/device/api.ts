import { limits } from "#lib/core/limits";
import { approved, pending, pollQuery, pollResponse, startRequest, startResponse } from "#lib/device/schema";
import type { Operation } from "#lib/http/operation";

const { device } = limits;
const deviceCode = "qLIBaOkLx0m3yM8v2c1Yd7Zt5uWnRj4EhGfKpSsTaQw";

export const startDeviceLogin = {
  methods: ["POST"],
  path: "/api/cli/device/start",
  auth: "none",
  body: { schema: startRequest, maxBytes: device.bodyBytes },
  response: startResponse,
  about: {
    group: "Device login",
    summary: "Start a device login",
    text: `Show \`userCode\` and open \`verificationUriComplete\` in a browser, where a signed-in person approves; meanwhile, poll. The page shows the name \`machine\` and explains the \`scopes\`.`,
    answers: {
      200: {
        text: "The codes of the login.",
        example: {
          ok: true,
          deviceCode,
          userCode: "WDJB-MJHT",
          verificationUri: "https://spoor.example.org/device",
          verificationUriComplete: "https://spoor.example.org/device?code=WDJB-MJHT",
          expiresIn: 600,
          expiresAt: "2026-11-20T10:10:00.000Z",
          interval: device.intervalSeconds,
        },
      },
    },
    errors: {
      rate_limited: {
        when: `More than ${device.startsPer10MinutesPerIp} starts in 10 minutes from one address.`,
        detail: "Too many logins were started from this address.",
      },
    },
    example: { body: { machine: "ada-laptop" } },
  },
} satisfies Operation;

export const pollDeviceLogin = {
  methods: ["GET"],
  path: "/api/cli/device/poll",
  auth: "none",
  query: pollQuery,
  response: pollResponse,
  about: {
    group: "Device login",
    summary: "Poll a device login",
    text: "Poll every `interval` seconds. The first poll after the approval redeems the code; only its response contains the token.",
    head: false,
    answers: {
      202: {
        text: "Pending. `slowDown` means that the poll came too early; the interval is longer now.",
        schema: pending,
        headers: {
          "Retry-After": { text: "Seconds to wait before the next poll.", example: `${device.intervalSeconds}` },
        },
        example: { ok: true, status: "pending", interval: device.intervalSeconds, expiresIn: 590 },
      },
      200: {
        text: "Approved. Store the token with mode 0600; it is valid for 90 days. `scopes` are the granted ones.",
        schema: approved,
        example: {
          ok: true,
          status: "approved",
          token: "spoor_EXAMPLE000000000000000000000000000000",
          tokenType: "Bearer",
          userId: "0b9ddc6e-3b0f-4c86-9a4c-4e2d1f2a7c55",
          user: { name: "Ada", email: "ada@example.org" },
          machine: "ada-laptop",
          scopes: ["ingest", "read"],
          expiresAt: "2027-02-18T10:05:00.000Z",
        },
      },
    },
    errors: {
      invalid_request: "`deviceCode` is missing, repeated, or too long.",
      invalid_grant: "No login has this code.",
      access_denied: { when: "The login was denied.", detail: "The login was denied in the browser." },
      already_consumed: "The code was already redeemed.",
      expired_token: "The login is older than ten minutes.",
      slow_down: `More than ${device.pollsPerMinutePerCode} polls per minute for a code, or ${device.pollsPerMinutePerIp} from an address.`,
    },
    example: { query: { deviceCode } },
  },
} satisfies Operation;
