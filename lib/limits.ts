import { env } from "#lib/env";
import { maxPicturePixels } from "#lib/evidence/picture-size";

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * Limits that no environment variable changes. A name says its unit; without one it is a count, and the limit of a text
 * field is its length in Unicode code points, as zod's `max` and OpenAPI's `maxLength` count.
 */
export const limits = {
  /** Levels of arrays and objects in one body. */
  maxNesting: 64,
  /** Objects, arrays and fields in one body: each costs memory, however few bytes it takes. */
  maxValues: 5_000_000,
  maxAuthBodyBytes: 64 * KiB,
  /** Of a form or an action, which Next holds in memory before a page is asked. */
  maxPageBodyBytes: 256 * KiB,
  ingest: {
    traces: 1000,
    messagesPerTrace: 50_000,
    /**
     * What the numbers in the metadata of a trace's messages may gain where they are written without exponents, beside as many
     * characters as that metadata has.
     */
    addedDigitsPerTrace: 256 * KiB,
    // One string of V8 holds no more, so INGEST_MAX_BYTES can't be larger.
    maxDecodableBytes: 500 * MiB,
    idempotencyKeyCharacters: 255,
    idempotencyKeyDays: 7,
    // RFC 8878, section 3.1.1.1.2 advises decoders to support windows of 8 MiB and lets them refuse larger ones.
    maxZstdWindowBytes: 8 * MiB,
    /** Many tiny ones would only cost time. */
    maxZstdFrames: 1024,
    maxInFlightBytes: 512 * MiB,
    maxQueuedJobsPerUser: 10_000,
    maxReplays: 1000,
    /** After it, the raw upload of a failed job is removed. */
    failedUploadDays: 30,
    // A form is read whole before the file in it is found.
    maxFormBytes: 16 * MiB,
  },
  /** A message's references beyond those of one message and of one trace are placeholders. `bytes` and `pixels` are those of one picture. */
  pictures: {
    bytes: 5 * MiB,
    pixels: maxPicturePixels,
    hashesPerRequest: 1000,
    requestBytes: 128 * KiB,
    perMessage: 200,
    perTrace: 5000,
    /** After it, one that no trace refers to is removed. */
    unusedHours: 24,
    sharedPerMinutePerNetwork: 600,
    /** How many are read at once, by all and by one user, or one network of readers of shares; and how many of those may wait. */
    readsAtOnce: 32,
    readsPerUser: 6,
    maxWaitingPerUser: 256,
    /** How much of one a client has to take in such a time while others wait. */
    sendSeconds: 10,
    sendBytesPerSecond: 64 * KiB,
  },
  /** How long new jobs are taken, by a call of `/api/cron` and after a response. The last one may end later. */
  cron: { drainSeconds: 45, afterResponseSeconds: 20 },
  trace: { sourceId: 512, source: 128, model: 256, title: 512, project: 256, branch: 256, metadataBytes: 256 * KiB },
  message: { role: 32, integer: 2_147_483_647 },
  /**
   * How much a request's headers may have and how many parameters its URL, how long it and they may take to arrive, and how many requests
   * may have bodies that have not; `upload` is one with sessions, and does not count there.
   */
  request: {
    headerBytes: 16 * KiB,
    parameters: 256,
    headerSeconds: 20,
    seconds: 60,
    uploadSeconds: 7200,
    bodiesArriving: 256,
  },
  /** The pace of a body: it must not stall, and after `graceSeconds` has to keep an average rate. */
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
    /** Of one IPv6 /48, which is one sender's as a rule. */
    startsPer10MinutesPerSite: 100,
    /** Of all addresses: each start is a row for a day. */
    startsPer10Minutes: 1500,
    pollsPerMinutePerCode: 60,
    pollsPerMinutePerIp: 300,
    codeTriesPer10Minutes: 10,
    tokenDays: 90,
  },
  /** Wrong passwords and codes count here, right ones do not. A browser is one that the account signed in with before. */
  signIn: {
    wrongPerHourPerNetworkAndAccount: 10,
    wrongPerHourPerBrowser: 10,
    wrongPerHourPerNetwork: 60,
    // NIST SP 800-63B, section 5.2.2: no more than a hundred in a row for one account.
    /** Of one IPv6 /48 for one account, so that its networks alone do not use up the hundred below. */
    wrongPerDayPerSiteAndAccount: 30,
    wrongPerDayPerAccountFromUnknownNetworks: 100,
    /** Of a signed-in person who has to repeat it. */
    wrongPasswordsAgainPerHour: 10,
    signUpsPerHourPerNetwork: 20,
    providerSignInsPerHourPerNetwork: 60,
    /** Of each of better-auth's routes by which nothing can be guessed. */
    callsPerMinutePerNetwork: 100,
    hashesAtOnce: 2,
    hashWaitSeconds: 2,
    /** A sign-in ends after so long without use, and `maxDays` after its start in any case. */
    idleDays: 7,
    maxDays: 30,
    /** The idle time where the browser is not to be remembered; its cookie ends with the browser. */
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
    /** What a user's own reports may store in a day; TELEMETRY_ANONYMOUS_* bound those without a token. */
    dailyBytesPerUser: 50_000_000,
    /** Device ids that were not seen before, in a day from one network, or from one user. */
    newDevicesPerDay: 200,
    retentionDays: 90,
    countsRetentionDays: 400,
  },
  traces: {
    perPage: 50,
    maxPerPage: 200,
    /** A page of the list ends once its metadata has so many; there is a next one then. */
    listPageBytes: 2 * MiB,
    messagesPerPage: 100,
    maxMessagesPerPage: 1000,
    /** Secrets that a person decides of one by one: each batch is masked by all of them. */
    secretRulings: 10_000,
    messagesPageBytes: 8 * MiB,
    query: 512,
    queryWords: 32,
    queryFiles: 8,
    /** By what a session's row has: project, branch, agent, model, day. */
    queryFilters: 8,
    /** `cursor` of the list of sessions, of files, of projects and of findings. */
    cursor: 256,
    fileCursor: 4096,
    projectCursor: 64,
    findingCursor: 512,
    nameQuery: 200,
    filesPerPage: 100,
    maxFilesPerPage: 500,
    /** What a session's calls read and changed beyond that is left out of its files. */
    fileRows: 50_000,
    /** Of a trace in a list, so many pull requests are told. */
    pullRequestsListed: 100,
    /** What a person says about a session, in characters; its own title is bounded as an agent's. */
    note: 10_000,
    tag: 64,
    tags: 20,
    tool: 64,
    filePath: 1024,
    /** Of one filter, of which a session has any. */
    filterValues: 20,
    views: 50,
    viewName: 64,
    marksBytes: 128 * KiB,
    projectName: 128,
    sharedPagesPerMinutePerNetwork: 120,
    sharedPagesPerMinutePerLink: 600,
  },
  /** Reports of usage: at most so many days, in so many spans, with so many values of a facet; and budgets of a user. */
  usage: { maxDays: 1100, maxSpans: 400, maxValues: 100, budgets: 20 },
  /** How agents are connected (OAuth 2.1). */
  oauth: {
    /** Of registering, exchanging and revoking. */
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
  /** What agents read over the Model Context Protocol: bytes of one answer, and characters of one message in it. */
  mcp: {
    bodyBytes: 64 * KiB,
    answerBytes: 24 * KiB,
    messageCharacters: 4000,
    excerptCharacters: 400,
    perPage: 20,
    cursor: 4500,
    callsPerMinutePerUser: 300,
  },
  /** Heavy reads are those that take longer the more a user has stored (the glossary in docs/architecture.md lists them). */
  reads: {
    statementSeconds: 10,
    heavyPerUser: 2,
    exportsPerUser: 2,
    /** Pages of messages that are sent in pieces, and outlines of sessions. */
    longAnswersPerUser: 4,
    outlinesPerUser: 4,
    /** Of each of the three above. */
    maxLongWaitingPerUser: 32,
    maxWaitSeconds: 3,
    maxWaitingPerUser: 256,
  },
} as const;

/** A form has no more than any other upload. */
export const maxFormBytes = (): number => Math.min(limits.ingest.maxFormBytes, env().INGEST_MAX_WIRE_BYTES);

/** A picture has no more than any other upload: some hosts take no larger body. */
export const maxPictureBytes = (): number => Math.min(limits.pictures.bytes, env().INGEST_MAX_WIRE_BYTES);

/** The body of `GET /api/limits`: every limit above, and those that the operator sets. */
export function publicLimits() {
  const {
    ingest,
    pictures,
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
