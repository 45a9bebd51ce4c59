import { isIP } from "node:net";
import { z } from "zod";

/** An unset variable and an empty one mean the same: the default. */
const optional = <T extends z.ZodType>(type: T) =>
  z.preprocess((value) => (value === "" ? undefined : value), type.optional());
const withDefault = <T extends z.ZodType>(type: T, value: z.input<T>) =>
  z.preprocess((given) => (given === undefined || given === "" ? value : given), type);

const wholeNumber = (min: number, max: number) =>
  z.coerce.number({ error: "must be a number" }).int("must be a whole number").min(min).max(max);

const httpUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true })
  .refine((url) => new URL(url).pathname === "/", "must have no path")
  .transform((url) => url.replace(/\/+$/, ""));

/** An address, a network, or one of proxy-addr's names for the usual private ones. */
const isProxy = (item: string) => {
  const [address = "", bits = "0", ...more] = item.split("/");
  const version = isIP(address);
  if (["loopback", "linklocal", "uniquelocal"].includes(item)) return true;
  return version !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
};

const list = z.string().transform((value) =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean),
);

/** Where telemetry is forwarded to: a URL without credentials, which stand in TELEMETRY_SINK_KEY, and without a fragment. */
const sinkUrl = z.url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true }).refine((text) => {
  const { username, password, hash } = new URL(text);
  return username === "" && password === "" && hash === "";
}, "must have neither a user name, nor a password, nor a fragment");

/** A Standard Webhooks secret: 24 to 64 bytes in base64, with or without its prefix. */
const isWebhookSecret = (key: string) => {
  const text = key.replace(/^whsec_/, "");
  const { length } = Buffer.from(text, "base64");
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 && length >= 24 && length <= 64;
};

/** V8 can hold 512 MiB of text in one string; a decoded body has to stay below it. */
const maxDecodableBytes = 500 * 1024 * 1024;

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const schema = z
  .object({
    NODE_ENV: withDefault(z.enum(["development", "production", "test"]), "production"),
    DATABASE_URL: optional(z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// or postgresql:// URL" })),
    DATA_DIR: withDefault(z.string(), ".data"),
    PORT: withDefault(wholeNumber(0, 65535), "3000"),
    HOST: optional(z.string()),
    BASE_URL: optional(httpUrl),
    AUTH_SECRET: optional(z.string().min(32, "must have at least 32 characters")),
    SETUP_TOKEN: optional(z.string().min(16, "must have at least 16 characters")),
    SIGN_UP: withDefault(z.enum(["invitation", "open"]), "invitation"),
    TRUSTED_PROXIES: withDefault(
      list.refine((items) => items.every(isProxy), "must be addresses or networks, separated by commas"),
      "",
    ),
    INGEST_MAX_BYTES: withDefault(wholeNumber(1024, maxDecodableBytes), String(256 * 1024 * 1024)),
    UPLOAD_RETENTION_DAYS: withDefault(wholeNumber(0, 3650), "7"),
    WORKER_CONCURRENCY: withDefault(wholeNumber(1, 16), "2"),
    CRON_SECRET: optional(z.string().min(16, "must have at least 16 characters")),
    TELEMETRY_SINK: optional(z.enum(["posthog", "webhook", "otlp"])),
    TELEMETRY_SINK_URL: optional(sinkUrl),
    TELEMETRY_SINK_KEY: optional(z.string().regex(/^[\x20-\x7e]{1,4096}$/, "must be printable ASCII")),
    TELEMETRY_SINK_ALLOW_PRIVATE: withDefault(z.enum(["0", "1"]), "0"),
    METRICS_TOKEN: optional(z.string().min(16, "must have at least 16 characters")),
    OTEL_EXPORTER_OTLP_ENDPOINT: optional(z.url({ protocol: /^https?$/, error: "must be an http or https URL" })),
    LOG_LEVEL: withDefault(z.enum(logLevels), "info"),
    GITHUB_CLIENT_ID: optional(z.string()),
    GITHUB_CLIENT_SECRET: optional(z.string()),
    GOOGLE_CLIENT_ID: optional(z.string()),
    GOOGLE_CLIENT_SECRET: optional(z.string()),
    AUTH_RATE_LIMIT: withDefault(z.enum(["on", "off"]), "on"),
    VERCEL: optional(z.string()),
  })
  .superRefine((env, context) => {
    const { TELEMETRY_SINK: sink, TELEMETRY_SINK_URL: url, TELEMETRY_SINK_KEY: key } = env;
    const wrong = (name: string, message: string) => context.addIssue({ code: "custom", path: [name], message });
    if (!sink && (url || key)) wrong("TELEMETRY_SINK", "must be set where TELEMETRY_SINK_URL or _KEY is");
    if (sink && !url) wrong("TELEMETRY_SINK_URL", "must be set with TELEMETRY_SINK");
    if (sink && sink !== "otlp" && !key) wrong("TELEMETRY_SINK_KEY", `must be set with TELEMETRY_SINK=${sink}`);
    if (sink === "webhook" && key && !isWebhookSecret(key)) {
      wrong("TELEMETRY_SINK_KEY", "must be a Standard Webhooks secret: whsec_ and 24 to 64 bytes in base64");
    }
    for (const provider of ["GITHUB", "GOOGLE"] as const) {
      const [id, secret] = [`${provider}_CLIENT_ID`, `${provider}_CLIENT_SECRET`] as const;
      if ((env[id] === undefined) === (env[secret] === undefined)) continue;
      const missing = env[id] === undefined ? id : secret;
      context.addIssue({
        code: "custom",
        path: [missing],
        message: `must be set together with the other of ${provider}`,
      });
    }
  })
  .transform((env) => ({ ...env, BASE_URL: env.BASE_URL ?? `http://localhost:${env.PORT}` }));

export type Env = z.output<typeof schema>;

/** A start that cannot go on because a variable is wrong; the message names each one. */
export class EnvError extends Error {
  override name = "EnvError";
}

/**
 * Parses an environment.
 *
 * @throws EnvError naming every variable that is wrong, and how.
 */
export function parseEnv(source: Record<string, string | undefined>): Env {
  const parsed = schema.safeParse(source);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new EnvError(`The environment is not valid.\n  ${faults.join("\n  ")}`);
}

let parsed: Env | undefined;

/** The process's environment, parsed at the first call. @throws EnvError as `parseEnv` does. */
export function env(): Env {
  parsed ??= parseEnv(process.env);
  return parsed;
}

/** Sets variables of this process (and of the children it starts), or unsets them, and has them parsed anew. */
export function setEnv(values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  parsed = undefined;
}

/** The log's level by itself: the log is there before the rest of the environment is known to be right. */
export function logLevel(): (typeof logLevels)[number] {
  return logLevels.find((level) => level === process.env.LOG_LEVEL) ?? "info";
}

/** The value of a variable that the launcher fills in before anything needs it. @throws EnvError naming it. */
export function requiredEnv(name: "DATABASE_URL" | "AUTH_SECRET"): string {
  const value = env()[name];
  if (value === undefined) throw new EnvError(`The environment is not valid.\n  ${name}: must be set`);
  return value;
}
