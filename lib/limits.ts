import { env } from "#lib/env";

const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits that no environment changes. Bytes, seconds and counts, as each name says. */
export const limits = {
  /** Levels of arrays and objects in one body. */
  nesting: 64,
  /** Objects, arrays and fields in one body: each costs memory, however few bytes it takes. */
  values: 5_000_000,
  authBodyBytes: 64 * KiB,
  ingest: {
    wireBytes: 64 * MiB,
    traces: 1000,
    messagesPerTrace: 50_000,
    // What V8 can hold in one string, and so the most that any INGEST_MAX_BYTES lets in.
    decodableBytes: 500 * MiB,
    idempotencyKeyDays: 7,
    inFlightBytes: 512 * MiB,
    queuedJobsPerUser: 10_000,
    replaysAtOnce: 1000,
    // A form is read whole before the file in it is known.
    formBytes: 16 * MiB,
  },
  /** How long one call of `/api/cron` goes on taking jobs. The last one taken may end later. */
  cron: { drainSeconds: 45 },
  trace: { sourceId: 512, source: 128, model: 256, title: 512, project: 256, metadataBytes: 256 * KiB },
  message: { role: 32, integer: 2_147_483_647 },
  body: { drainSeconds: 5, idleSeconds: 20, minSeconds: 60, bytesPerSecond: 16 * KiB },
  device: {
    bodyBytes: 4 * KiB,
    machine: 256,
    deviceCode: 128,
    expiresInSeconds: 600,
    graceSeconds: 60,
    intervalSeconds: 5,
    maxIntervalSeconds: 60,
    startsPer10MinutesPerIp: 20,
    pollsPerMinutePerCode: 60,
    pollsPerMinutePerIp: 300,
    codeTriesPer10Minutes: 10,
    tokenDays: 90,
  },
  telemetry: {
    bodyBytes: MiB,
    deviceId: 128,
    cliVersion: 32,
    platform: 32,
    arch: 32,
    command: 64,
    sentAt: 40,
    diagnostics: 200,
    adapter: 64,
    source: 512,
    unhandledTypes: 200,
    unhandledType: 128,
    events: 50,
    eventName: 128,
    eventPropertiesBytes: 16 * KiB,
    perMinutePerIp: 60,
    perMinutePerDevice: 30,
    retentionDays: 90,
  },
  traces: {
    perPage: 50,
    maxPerPage: 200,
    messagesPerPage: 100,
    maxMessagesPerPage: 1000,
    messagesPageBytes: 8 * MiB,
    query: 512,
  },
} as const;

/** What `GET /api/limits` tells a client: what it has to keep to, with the operator's own values in place. */
export function publicLimits() {
  const { ingest, trace, message, device, telemetry, traces } = limits;
  return {
    ingest: {
      wireBytes: ingest.wireBytes,
      decodedBytes: env().INGEST_MAX_BYTES,
      traces: ingest.traces,
      messagesPerTrace: ingest.messagesPerTrace,
      nesting: limits.nesting,
      idempotencyKeyDays: ingest.idempotencyKeyDays,
      contentEncodings: ["gzip", "br", "zstd"],
      trace,
      message,
    },
    device,
    telemetry,
    traces,
    uploadRetentionDays: env().UPLOAD_RETENTION_DAYS,
  };
}
