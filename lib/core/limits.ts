import { maxPicturePixels } from "#common/evidence/picture-format";
import { env } from "#lib/core/env";

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * No environment variable changes these limits. A name without a unit is a count; text is limited by its Unicode code
 * points.
 */
export const limits = {
  maxNesting: 64,
  /** Objects, arrays and fields of a body: each costs memory, however few bytes it takes. */
  maxValues: 5_000_000,
  maxAuthBodyBytes: 64 * KiB,
  /** Next keeps a form or an action in memory before it calls a page. */
  maxPageBodyBytes: 256 * KiB,
  ingest: {
    traces: 1000,
    messagesPerTrace: 50_000,
    /** Numbers in metadata grow when they are written without exponents. */
    addedDigitsPerTrace: 256 * KiB,
    // V8's strings can't be larger, so INGEST_MAX_BYTES can't be larger.
    maxDecodableBytes: 500 * MiB,
    idempotencyKeyCharacters: 255,
    idempotencyKeyDays: 7,
    // RFC 8878, section 3.1.1.1.2 lets decoders refuse larger windows.
    maxZstdWindowBytes: 8 * MiB,
    maxZstdFrames: 1024,
    maxInFlightBytes: 512 * MiB,
    maxQueuedJobsPerUser: 10_000,
    maxReplays: 1000,
    failedUploadDays: 30,
    maxFormBytes: 16 * MiB,
  },
  /** References beyond these limits become placeholders. `bytes` and `pixels` limit one picture. */
  pictures: {
    bytes: 5 * MiB,
    pixels: maxPicturePixels,
    hashesPerRequest: 1000,
    requestBytes: 128 * KiB,
    perMessage: 200,
    perTrace: 5000,
    unusedHours: 24,
    sharedPerMinutePerNetwork: 600,
    /** Share readers count per network. */
    readsAtOnce: 32,
    readsPerUser: 6,
    maxWaitingPerUser: 256,
    /** While others wait, a client that reads less in this time is disconnected. */
    sendSeconds: 10,
    sendBytesPerSecond: 64 * KiB,
  },
  /** Exact copies. `partBytes` limits one part, `headBytes` the head before it is written as base64. */
  originals: {
    partBytes: 4 * MiB,
    headBytes: MiB,
    manifestBytes: 3 * MiB,
    parts: 20_000,
    files: 100_000,
    missingTold: 1000,
    unusedHours: 24,
    manifestsPerMinutePerUser: 600,
    perPage: 50,
    maxPerPage: 200,
    cursor: 4096,
  },
  /** No new job is taken after this time. */
  cron: { drainSeconds: 45, afterResponseSeconds: 20 },
  trace: { sourceId: 512, source: 128, model: 256, title: 512, project: 256, branch: 256, metadataBytes: 256 * KiB },
  message: { role: 32, integer: 2_147_483_647 },
  /** `bodiesArriving` limits the requests whose body is still on its way, without uploads of sessions. */
  request: {
    headerBytes: 16 * KiB,
    parameters: 256,
    headerSeconds: 20,
    seconds: 60,
    uploadSeconds: 7200,
    bodiesArriving: 256,
  },
  /** A body must not stall, and must keep an average rate after `graceSeconds`. */
  body: { maxIdleSeconds: 20, graceSeconds: 60, minBytesPerSecond: 16 * KiB, drainSeconds: 5 },
  device: {
    bodyBytes: 4 * KiB,
    machine: 256,
    deviceCode: 128,
    expiresInSeconds: 600,
    graceSeconds: 60,
    intervalSeconds: 5,
    maxIntervalSeconds: 60,
    startsPer10MinutesPerIp: 20,
    /** A site is an IPv6 /48, usually one sender's. */
    startsPer10MinutesPerSite: 100,
    /** Each start is a row for a day. */
    startsPer10Minutes: 1500,
    pollsPerMinutePerCode: 60,
    pollsPerMinutePerIp: 300,
    codeTriesPer10Minutes: 10,
    tokenDays: 90,
  },
  /** Only wrong passwords and codes count. `Browser` means one that the account signed in with before. */
  signIn: {
    wrongPerHourPerNetworkAndAccount: 10,
    wrongPerHourPerBrowser: 10,
    wrongPerHourPerNetwork: 60,
    // NIST SP 800-63B, section 5.2.2 allows a hundred in a row for one account.
    /** Keeps one IPv6 /48 from using up the hundred below. */
    wrongPerDayPerSiteAndAccount: 30,
    wrongPerDayPerAccountFromUnknownNetworks: 100,
    wrongPasswordsAgainPerHour: 10,
    signUpsPerHourPerNetwork: 20,
    providerSignInsPerHourPerNetwork: 60,
    /** Applies to each of better-auth's routes that reveal nothing. */
    callsPerMinutePerNetwork: 100,
    hashesAtOnce: 2,
    hashWaitSeconds: 2,
    /** A sign-in ends after `idleDays` without use, and `maxDays` after its start. */
    idleDays: 7,
    maxDays: 30,
    unrememberedIdleHours: 24,
    knownBrowserDays: 365,
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
    anonymousBodyBytes: 256 * KiB,
    /** TELEMETRY_ANONYMOUS_* limit reports without a token. */
    dailyBytesPerUser: 50_000_000,
    /** Per network, or per user. */
    newDevicesPerDay: 200,
    retentionDays: 90,
    countsRetentionDays: 400,
  },
  traces: {
    perPage: 50,
    maxPerPage: 200,
    /** A page of the list ends once its metadata has this size. */
    listPageBytes: 2 * MiB,
    messagesPerPage: 100,
    maxMessagesPerPage: 1000,
    /** All of a user's decisions are applied to each batch. */
    secretRulings: 10_000,
    messagesPageBytes: 8 * MiB,
    query: 512,
    queryWords: 32,
    queryFiles: 8,
    queryFilters: 8,
    cursor: 256,
    fileCursor: 4096,
    projectCursor: 64,
    findingCursor: 512,
    nameQuery: 200,
    filesPerPage: 100,
    maxFilesPerPage: 500,
    fileRows: 50_000,
    pullRequestsListed: 100,
    note: 10_000,
    tag: 64,
    tags: 20,
    tool: 64,
    filePath: 1024,
    filterValues: 20,
    views: 50,
    viewName: 64,
    marksBytes: 128 * KiB,
    projectName: 128,
    /** Counted per user and process. */
    growthStreams: 24,
    sharedPagesPerMinutePerNetwork: 120,
    sharedPagesPerMinutePerLink: 600,
  },
  usage: { maxDays: 1100, maxSpans: 400, maxValues: 100, budgets: 20 },
  oauth: {
    callsPerMinutePerNetwork: 60,
    bodyBytes: 16 * KiB,
    nameCharacters: 64,
    redirectUris: 8,
    redirectUriCharacters: 512,
    clientIdBytes: 2048,
    stateCharacters: 1024,
    codeSeconds: 600,
    accessSeconds: 3600,
    refreshDays: 90,
    perUser: 100,
  },
  mcp: {
    bodyBytes: 64 * KiB,
    answerBytes: 24 * KiB,
    messageCharacters: 4000,
    excerptCharacters: 400,
    perPage: 20,
    cursor: 4500,
    callsPerMinutePerUser: 300,
  },
  /** Heavy reads take longer the more a user has stored (docs/architecture.md, glossary). */
  reads: {
    statementSeconds: 10,
    heavyPerUser: 2,
    exportsPerUser: 2,
    /** Pages of messages that are sent in pieces. */
    longAnswersPerUser: 4,
    outlinesPerUser: 4,
    maxLongWaitingPerUser: 32,
    maxWaitSeconds: 3,
    maxWaitingPerUser: 256,
  },
} as const;

export const maxFormBytes = (): number => Math.min(limits.ingest.maxFormBytes, env().INGEST_MAX_WIRE_BYTES);

/** Some hosts take no larger body than the upload's limit. */
export const maxPictureBytes = (): number => Math.min(limits.pictures.bytes, env().INGEST_MAX_WIRE_BYTES);

export const maxPartBytes = (): number => Math.min(limits.originals.partBytes, env().INGEST_MAX_WIRE_BYTES);

export function publicLimits() {
  const {
    ingest,
    pictures,
    originals,
    trace,
    message,
    device,
    signIn,
    telemetry,
    traces,
    usage,
    oauth,
    mcp,
    reads,
    cron,
    request,
    body,
    ...rest
  } = limits;
  return {
    ingest: {
      ...ingest,
      wireBytes: env().INGEST_MAX_WIRE_BYTES,
      maxFormBytes: maxFormBytes(),
      decodedBytes: env().INGEST_MAX_BYTES,
      nesting: rest.maxNesting,
      contentEncodings: ["gzip", "br", "zstd"],
      trace,
      message,
    },
    pictures: { ...pictures, bytes: maxPictureBytes() },
    originals: { ...originals, partBytes: maxPartBytes() },
    device,
    signIn,
    telemetry: {
      ...telemetry,
      anonymousDailyBytesPerNetwork: env().TELEMETRY_ANONYMOUS_NETWORK_BYTES,
      anonymousDailyBytes: env().TELEMETRY_ANONYMOUS_TOTAL_BYTES,
    },
    traces,
    usage,
    oauth,
    mcp,
    reads,
    request,
    body: { ...body, ...rest },
    cron,
    uploadRetentionDays: env().UPLOAD_RETENTION_DAYS,
    userQuotaBytes: env().USER_QUOTA_BYTES ?? null,
  };
}
