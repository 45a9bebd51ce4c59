import { isIP } from "node:net";
import { z } from "zod";

/** `text`, `unset` and `allowed` appear in docs/operations.md and .env.example (server/commands/environment.ts). */
export type Variable<T extends z.ZodType = z.ZodType> = {
  schema: T;
  text: string;
  unset: string;
  allowed: string;
};

type Description = { text: string; unset?: string; allowed?: string };

/** An empty value counts as unset. */
export const optional = <T extends z.ZodType>(type: T, { text, unset = "none", allowed = "" }: Description) => ({
  schema: z.preprocess((value) => (value === "" ? undefined : value), type.optional()),
  ...{ text, unset, allowed },
});

export const withDefault = <T extends z.ZodType>(
  type: T,
  value: string,
  { text, unset, allowed = "" }: Description,
) => ({
  schema: z.preprocess((given) => (given === undefined || given === "" ? value : given), type),
  ...{ text, unset: unset ?? `\`${value}\``, allowed },
});

const numberBetween = (min: number, max = Number.POSITIVE_INFINITY) =>
  z.coerce
    .number("must be a number")
    .int("must be a whole number")
    .refine(
      (given) => given >= min && given <= max,
      max === Number.POSITIVE_INFINITY ? `must be ${min} or more` : `must be from ${min} to ${max}`,
    );

export const wholeNumber = (value: number, [min, max]: [number, number], text: string) =>
  withDefault(numberBetween(min, max), String(value), { text, allowed: `${min} to ${max}` });

export const optionalNumber = ([min, max]: [min: number, max?: number], description: Omit<Description, "allowed">) =>
  optional(numberBetween(min, max), {
    ...description,
    allowed: max === undefined ? `${min} or more` : `${min} to ${max}`,
  });

export const postgresUrl = (description: Omit<Description, "allowed">) =>
  optional(z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// or postgresql:// URL" }), {
    ...description,
    allowed: "a `postgres://` or `postgresql://` URL",
  });

export const choice = <const T extends readonly string[]>(values: T, value: T[number], text: string) =>
  withDefault(z.enum(values, `must be one of ${values.join(", ")}`), value, {
    text,
    allowed: values.map((one) => `\`${one}\``).join(", "),
  });

export const secret = (min: number, description: Description) =>
  optional(z.string().min(min, `must have at least ${min} characters`), {
    ...description,
    allowed: `at least ${min} characters`,
  });

export const httpUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true })
  .refine((url) => new URL(url).pathname === "/", "must have no path")
  .transform((url) => url.replace(/\/+$/, ""));

export const isProxy = (item: string) => {
  const [address = "", bits = "0", ...more] = item.split("/");
  const version = isIP(address);
  if (["loopback", "linklocal", "uniquelocal"].includes(item)) return true;
  return version !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
};

export const list = z.string().transform((value) =>
  value
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean),
);

/** Credentials belong in TELEMETRY_SINK_KEY. */
export const sinkUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true })
  .refine((text) => {
    const { username, password, hash } = new URL(text);
    return username === "" && password === "" && hash === "";
  }, "must not have a user name, a password or a fragment");

/** A Standard Webhooks secret has 24 to 64 bytes in base64, with or without the prefix. */
export const isWebhookSecret = (key: string) => {
  const text = key.replace(/^whsec_/, "");
  const { length } = Buffer.from(text, "base64");
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 && length >= 24 && length <= 64;
};
