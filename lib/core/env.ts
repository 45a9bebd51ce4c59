import "#lib/core/messages";
import { z } from "zod";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { EnvError } from "#lib/core/errors";
import {
  choice,
  httpUrl,
  isProxy,
  isWebhookSecret,
  list,
  optional,
  optionalNumber,
  postgresUrl,
  secret,
  sinkUrl,
  type Variable,
  wholeNumber,
  withDefault,
} from "#lib/core/variables/kinds";
import { checkStore, encryptionVariables, priceVariables, storeVariables } from "#lib/core/variables/settings";

const MiB = 1024 * 1024;

/** V8's strings have at most 512 MiB. */
const maxDecodableBytes = 500 * MiB;

export const usualWireBytes = 64 * MiB;
/** Vercel accepts 4.5 MB, AWS Lambda 6 MB in base64. */
const serverlessWireBytes = 4_000_000;

/** A budget's counter is a 32-bit integer and may end somewhat above its budget. */
const maxDailyBytes = 2_000_000_000;

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const variables = {
  NODE_ENV: choice(
    ["production", "development", "test"],
    "production",
    "Next's mode; `npm run dev` sets `development`, tests set `test`",
  ),
  DATABASE_URL: postgresUrl({
    text: "PostgreSQL 15 or later",
    unset: "the embedded PostgreSQL",
  }),
  DIRECT_DATABASE_URL: postgresUrl({
    text: "the database without [pooler](#a-connection-pooler), for workers and migrations",
    unset: "`DATABASE_URL`",
  }),
  DATABASE_POOL_MAX: optionalNumber([3, 1000], {
    text: "maximum [connections](#connections) per process",
    unset: "web: 10; worker: 8 + 2 × `WORKER_CONCURRENCY`",
  }),
  DATA_DIR: withDefault(z.string(), ".data", { text: "folder of the embedded database and generated secrets" }),
  PORT: wholeNumber(3000, [0, 65535], "port; 0 is any free one"),
  HOST: optional(z.string(), {
    text: "address to listen on",
    unset: "loopback if `BASE_URL` is on localhost, else all addresses",
  }),
  BASE_URL: optional(httpUrl, {
    text: "the server's public address; with https, cookies are `Secure`",
    unset: "`http://localhost:PORT`; on Vercel the deployment's address",
    allowed: "an http or https URL without a path",
  }),
  ...encryptionVariables,
  SETUP_TOKEN: secret(16, {
    text: "opens `/setup?token=…` for the first account",
    unset: "generated at each start without an account",
  }),
  SIGN_UP: choice(["invitation", "open"], "invitation", "`open` lets everybody sign up at `/sign-up`"),
  TRUSTED_PROXIES: withDefault(
    list.refine((items) => items.every(isProxy), "must be addresses or networks, separated by commas"),
    "",
    {
      text: "proxies whose `X-Forwarded-For` is trusted",
      unset: "none",
      allowed: "addresses, networks, `loopback`, `linklocal`, `uniquelocal`, separated by commas",
    },
  ),
  INGEST_MAX_BYTES: wholeNumber(256 * MiB, [1024, maxDecodableBytes], "maximum upload after decompression, in bytes"),
  INGEST_MAX_WIRE_BYTES: optionalNumber([1024, 256 * MiB], {
    text: "maximum upload as sent, in bytes; larger sessions arrive in parts",
    unset: `\`${usualWireBytes}\`; \`${serverlessWireBytes}\` on a function host`,
  }),
  USER_QUOTA_BYTES: optionalNumber([0], {
    text: "bytes that a user may store; see [Quotas](#quotas)",
  }),
  UPLOAD_RETENTION_DAYS: wholeNumber(7, [0, 3650], "days to keep raw uploads of succeeded jobs (failed: 30)"),
  ...storeVariables,
  ...priceVariables,
  WORKER_CONCURRENCY: wholeNumber(2, [1, 16], "uploads that a worker or `/api/cron` processes at once"),
  CRON_SECRET: secret(16, { text: "authorizes `/api/cron`", unset: "the route does not exist" }),
  METRICS_TOKEN: secret(16, { text: "authorizes `/api/metrics`", unset: "the route does not exist" }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(z.url({ protocol: /^https?$/, error: "must be an http or https URL" }), {
    text: "OpenTelemetry collector, such as `http://localhost:4318`",
    allowed: "an http or https URL",
  }),
  GITHUB_CLIENT_ID: optional(z.string(), {
    text: "sign-in with GitHub; callback: `BASE_URL/api/auth/callback/github`",
  }),
  GITHUB_CLIENT_SECRET: optional(z.string(), { text: "required with `GITHUB_CLIENT_ID`" }),
  GOOGLE_CLIENT_ID: optional(z.string(), {
    text: "sign-in with Google; callback: `BASE_URL/api/auth/callback/google`",
  }),
  GOOGLE_CLIENT_SECRET: optional(z.string(), { text: "required with `GOOGLE_CLIENT_ID`" }),
  REQUIRE_SECOND_FACTOR: choice(
    ["on", "off"],
    "off",
    "`on` requires a second factor of everybody; CLI tokens keep working",
  ),
  AUTH_RATE_LIMIT: choice(
    ["on", "off"],
    "on",
    "`off` removes the limits on sign-in, sign-up, password checks and `/api/auth`",
  ),
  TELEMETRY_ANONYMOUS: choice(["on", "off"], "on", "`off` refuses telemetry reports without a valid token"),
  TELEMETRY_ANONYMOUS_NETWORK_BYTES: wholeNumber(
    5_000_000,
    [0, maxDailyBytes],
    "bytes a day for reports without a token, per network (IPv4 address or IPv6 /64)",
  ),
  TELEMETRY_ANONYMOUS_TOTAL_BYTES: wholeNumber(
    200_000_000,
    [0, maxDailyBytes],
    "bytes a day for all reports without a token",
  ),
  TELEMETRY_SINK: optional(z.enum(["posthog", "webhook", "otlp"], "must be one of posthog, webhook, otlp"), {
    text: "where to [forward telemetry](#forwarding-telemetry)",
    allowed: "`posthog`, `webhook`, `otlp`",
  }),
  TELEMETRY_SINK_URL: optional(sinkUrl, {
    text: "the sink's address; required with `TELEMETRY_SINK`",
    allowed: "an http or https URL without credentials and fragment",
  }),
  TELEMETRY_SINK_KEY: optional(z.string().regex(/^[\x20-\x7e]{1,4096}$/, "must be printable ASCII"), {
    text: "PostHog's project key, the webhook's secret (`whsec_…`), or (optional) OTLP's bearer token or, if it has a space, `Authorization` header",
    allowed: "1 to 4096 printable ASCII characters",
  }),
  TELEMETRY_SINK_ALLOW_PRIVATE: choice(["0", "1"], "0", "`1` allows a private address for `TELEMETRY_SINK_URL`"),
  LOG_LEVEL: choice(logLevels, "info", "lowest level to log"),
  VERCEL: optional(z.string(), {
    text: "set by Vercel: client addresses come from `X-Real-IP`; `DATABASE_URL`, `AUTH_SECRET` and `SETUP_TOKEN` are required",
    unset: "not on Vercel",
  }),
  VERCEL_ENV: optional(z.string(), { text: "set by Vercel: `production` or `preview`" }),
  VERCEL_PROJECT_PRODUCTION_URL: optional(z.string(), {
    text: "set by Vercel: default host of `BASE_URL` in production",
  }),
  VERCEL_URL: optional(z.string(), {
    text: "set by Vercel: default host of `BASE_URL` in a preview",
  }),
  AWS_LAMBDA_FUNCTION_NAME: optional(z.string(), {
    text: "set by AWS Lambda: a function host",
  }),
} satisfies Record<string, Variable>;

type Variables = typeof variables;

/** Documented in this order. */
export const environment: Record<string, Omit<Variable, "schema">> = variables;

const schemas = Object.fromEntries(Object.entries(variables).map(([name, { schema }]) => [name, schema])) as {
  [Name in keyof Variables]: Variables[Name]["schema"];
};

const schema = z
  .object(schemas)
  .superRefine((env, context) => {
    const { TELEMETRY_SINK: sink, TELEMETRY_SINK_URL: url, TELEMETRY_SINK_KEY: key } = env;
    const wrong = (name: string, message: string) => context.addIssue({ code: "custom", path: [name], message });
    if (!sink && (url || key)) wrong("TELEMETRY_SINK", "must be set with TELEMETRY_SINK_URL or TELEMETRY_SINK_KEY");
    if (sink && !url) wrong("TELEMETRY_SINK_URL", "must be set with TELEMETRY_SINK");
    if (sink && sink !== "otlp" && !key) wrong("TELEMETRY_SINK_KEY", `must be set with TELEMETRY_SINK=${sink}`);
    if (sink === "webhook" && key && !isWebhookSecret(key)) {
      wrong("TELEMETRY_SINK_KEY", "must be a Standard Webhooks secret: whsec_ and 24 to 64 bytes in base64");
    }
    checkStore(env, wrong);
    for (const provider of ["GITHUB", "GOOGLE"] as const) {
      const [id, secret] = [`${provider}_CLIENT_ID`, `${provider}_CLIENT_SECRET`] as const;
      if ((env[id] === undefined) === (env[secret] === undefined)) continue;
      const missing = env[id] === undefined ? id : secret;
      context.addIssue({
        code: "custom",
        path: [missing],
        message: `must be set together with the other variable of ${provider}`,
      });
    }
    if (env.VERCEL) {
      for (const name of requiredOnVercel) if (env[name] === undefined) wrong(name, "must be set on Vercel");
    }
  })
  .transform((env) => ({
    ...env,
    BASE_URL: env.BASE_URL ?? platformUrl(env) ?? `http://localhost:${env.PORT}`,
    INGEST_MAX_WIRE_BYTES: env.INGEST_MAX_WIRE_BYTES ?? (isFunctionHost(env) ? serverlessWireBytes : usualWireBytes),
  }));

/** Functions have no disk for these files, and nobody reads a link that they print. */
const requiredOnVercel = ["DATABASE_URL", "AUTH_SECRET", "SETUP_TOKEN"] as const;

type Platform = Partial<
  Record<"VERCEL" | "VERCEL_ENV" | "VERCEL_PROJECT_PRODUCTION_URL" | "VERCEL_URL" | "AWS_LAMBDA_FUNCTION_NAME", string>
>;

/** Processes of function hosts come and go with requests and have no disk. */
export const isFunctionHost = (env: Platform) => Boolean(env.VERCEL || env.AWS_LAMBDA_FUNCTION_NAME);

/** A preview is never reached at the production address. */
function platformUrl(env: Platform): string | undefined {
  if (!env.VERCEL) return undefined;
  const host = (env.VERCEL_ENV !== "preview" && env.VERCEL_PROJECT_PRODUCTION_URL) || env.VERCEL_URL;
  return host ? `https://${host}` : undefined;
}

export type Env = z.output<typeof schema>;

/** @throws EnvError that names every wrong variable */
export function parseEnv(source: Record<string, string | undefined>): Env {
  const parsed = schema.safeParse(source);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new EnvError(`The environment is not valid.\n  ${faults.join("\n  ")}`);
}

let parsed: { values: Env; at: number } | undefined;
const changes = oncePerProcess("changes of the environment", () => ({ count: 0 }));

export function env(): Env {
  if (parsed?.at !== changes.count) parsed = { values: parseEnv(process.env), at: changes.count };
  return parsed.values;
}

export function setEnv(values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  changes.count += 1;
}

/** The log is needed before the rest of the environment is known to be valid. */
export function logLevel(): (typeof logLevels)[number] {
  return logLevels.find((level) => level === process.env.LOG_LEVEL) ?? "info";
}

/** Workers and migrations need their own database sessions. */
export const directDatabaseUrl = (): string => env().DIRECT_DATABASE_URL ?? requiredEnv("DATABASE_URL");

/** @throws EnvError that names it */
export function requiredEnv(name: "DATABASE_URL" | "AUTH_SECRET"): string {
  const value = env()[name];
  if (value === undefined) throw new EnvError(`The environment is not valid.\n  ${name}: must be set`);
  return value;
}
