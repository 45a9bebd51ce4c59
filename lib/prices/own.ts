// PRICES_FILE: prices that an operator pays instead of the list prices.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { env } from "#lib/core/env";
import { EnvError } from "#lib/core/errors";
import { decimal, one, type Rates, ratesFrom } from "#lib/prices/rates";

const maxBytes = 1024 * 1024;

const amount = z.number().min(0).max(1_000_000);
const positive = z.number().gt(0.000001).max(1_000_000);
const code = z.string().regex(/^[A-Z]{3}$/, "must be a currency's code, such as EUR");
const amounts = {
  input: amount.optional(),
  output: amount.optional(),
  reasoning: amount.optional(),
  cacheRead: amount.optional(),
  cacheWrite5m: amount.optional(),
  cacheWrite1h: amount.optional(),
  webSearch: amount.optional(),
};

const entry = z
  .strictObject({
    model: z.string().min(1).max(200),
    from: z.iso.date("must be a day, such as 2026-11-01").optional(),
    currency: code.optional(),
    factor: z.number().min(0).max(100).optional(),
    ...amounts,
  })
  .superRefine((given, context) => {
    const named = Object.keys(amounts).some((kind) => given[kind as keyof typeof amounts] !== undefined);
    const wrong = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    if (given.factor !== undefined && named) wrong("factor", "can't be combined with amounts");
    if (given.factor !== undefined) return;
    for (const kind of ["input", "output"] as const) {
      if (given[kind] === undefined) wrong(kind, "must be set, or a factor on the list price");
    }
  });

const file = z
  .strictObject({
    currency: z.strictObject({ code, perDollar: positive }).optional(),
    prices: z.array(entry).max(1000).default([]),
  })
  .superRefine(({ currency, prices }, context) => {
    const known = ["USD", currency?.code];
    prices.forEach((price, index) => {
      if (price.currency === undefined || known.includes(price.currency)) return;
      context.addIssue({
        code: "custom",
        path: ["prices", index, "currency"],
        message: "must be USD or the file's currency",
      });
    });
  });

type Currency = { code: string; perDollar: number };

/** Prices by kind, or a factor (10^-12) on the list price. */
type OwnPrice = { model: string; since: number; rates?: Rates; factor?: bigint };
type OwnPrices = { currency: Currency; prices: OwnPrice[] };

const dollars: Currency = { code: "USD", perDollar: 1 };

/** @throws EnvError with what is wrong and its path */
export function parseOwnPrices(text: string): OwnPrices {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new EnvError(`PRICES_FILE is not JSON: ${(error as Error).message}`);
  }
  const parsed = file.safeParse(json);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${formatPath(path)}: ${message}`);
    throw new EnvError(`PRICES_FILE is not valid.\n  ${faults.slice(0, 20).join("\n  ")}`);
  }
  const { currency = dollars, prices } = parsed.data;
  return { currency, prices: prices.map((price) => ownPrice(price, currency)).sort(byRank) };
}

const formatPath = (path: PropertyKey[]) =>
  path.map((step, i) => (typeof step === "number" ? `[${step}]` : `${i > 0 ? "." : ""}${String(step)}`)).join("") ||
  "the file";

function ownPrice({ model, from, currency, factor, ...given }: z.output<typeof entry>, shown: Currency): OwnPrice {
  const base = { model: model.toLowerCase(), since: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from) };
  if (factor !== undefined) return { ...base, factor: decimal(factor) };
  const per = currency === undefined || currency === "USD" ? one : decimal(shown.perDollar);
  const inDollars = Object.entries(given).flatMap(([kind, value]) =>
    value === undefined ? [] : [[kind, (decimal(value) * one) / per]],
  );
  return { ...base, rates: ratesFrom(Object.fromEntries(inDollars)) };
}

const isPattern = (model: string) => model.includes("*");

const byRank = (a: OwnPrice, b: OwnPrice) =>
  Number(isPattern(a.model)) - Number(isPattern(b.model)) ||
  b.model.length - a.model.length ||
  (b.since > a.since ? 1 : b.since < a.since ? -1 : 0);

/** `*` is any text. Linear in the name's length. */
function fits(pattern: string, name: string): boolean {
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts) {
    at = name.indexOf(part, at);
    if (at === -1) return false;
    at += part.length;
  }
  return at <= name.length - last.length;
}

let own: OwnPrices | undefined;

/** Read once; changes apply after a restart. */
export function ownPrices(): OwnPrices {
  own ??= readOwnPrices(env().PRICES_FILE);
  return own;
}

/** For tests, which change the file. */
export function forgetOwnPrices(): void {
  own = undefined;
}

function readOwnPrices(path: string | undefined): OwnPrices {
  if (path === undefined) return { currency: dollars, prices: [] };
  let bytes: Buffer;
  try {
    // Otherwise Next would trace every file of the project.
    bytes = readFileSync(/* turbopackIgnore: true */ path);
  } catch (error) {
    throw new EnvError(`PRICES_FILE can't be read: ${(error as Error).message}`);
  }
  if (bytes.length > maxBytes) throw new EnvError(`PRICES_FILE is larger than ${maxBytes} bytes: ${path}`);
  return parseOwnPrices(bytes.toString("utf8"));
}

/** @param names all spellings, in lower case */
export function findOwnPrice(names: string[], at: Date): OwnPrice | undefined {
  return ownPrices().prices.find(
    ({ model, since }) => since <= at.getTime() && names.some((name) => fits(model, name)),
  );
}
