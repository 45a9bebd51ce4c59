// genai-prices' own list, or a newer one in its format from an operator's URL.
import { type Provider, updatePrices } from "@pydantic/genai-prices";
import { z } from "zod";

const text = z.string().min(1).max(300);
/** Patterns run on names of models; nested repetitions could take exponential time. */
const pattern = z
  .string()
  .max(300)
  .refine((source) => {
    try {
      new RegExp(source);
      return !/[+*}]\)?[+*{]|\([^)]*[+*{][^)]*\)[+*{]/.test(source);
    } catch {
      return false;
    }
  }, "must be a regular expression without nested repetitions");

type Rule = Provider["models"][number]["match"];
const rule: z.ZodType<Rule> = z.lazy(() =>
  z.union([
    z.strictObject({ equals: text }),
    z.strictObject({ starts_with: text }),
    z.strictObject({ ends_with: text }),
    z.strictObject({ contains: text }),
    z.strictObject({ regex: pattern }),
    z.strictObject({ or: z.array(rule).max(500) }),
    z.strictObject({ and: z.array(rule).max(500) }),
  ]),
);

const amount = z.number().min(0).max(1_000_000);
const price = z.union([
  amount,
  z.object({
    base: amount,
    tiers: z.array(z.object({ start: z.int().min(0), price: amount })).max(20),
  }),
]);
/** Sound, images and others are left out. */
const prices = z.object({
  input_mtok: price.optional(),
  output_mtok: price.optional(),
  output_reasoning_mtok: price.optional(),
  cache_read_mtok: price.optional(),
  cache_write_mtok: price.optional(),
  cache_write_1h_mtok: price.optional(),
  web_searches_kcount: price.optional(),
  requests_kcount: price.optional(),
});

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(Z|[+-][01]\d:[0-5]\d)$/);
const constraint = z.union([
  z.object({ start_date: z.iso.date() }).transform(({ start_date }) => ({ type: "start_date" as const, start_date })),
  z
    .object({ start_time: time, end_time: time })
    .transform((span) => ({ type: "time_of_date" as const, start_time: span.start_time, end_time: span.end_time })),
]);

const conditional = z.object({ constraint: constraint.nullish().transform((given) => given ?? undefined), prices });
const model = z.object({
  id: text,
  match: rule,
  prices: z.union([z.array(conditional).min(1).max(100), prices]),
});
const provider = z.object({
  id: text,
  name: text,
  api_pattern: pattern.catch("^$"), // Spoor looks nothing up by an API's address
  model_match: rule.nullish().transform((given) => given ?? undefined),
  provider_match: rule.nullish().transform((given) => given ?? undefined),
  fallback_model_providers: z
    .array(text)
    .max(50)
    .nullish()
    .transform((given) => given ?? undefined),
  models: z.array(model).max(5000),
});
const priceList = z.array(provider).min(5, "must be a list of providers").max(500);

export type PriceList = Provider[];

/** @throws Error with what is wrong */
export function parsePriceList(json: string): PriceList {
  const parsed = priceList.safeParse(JSON.parse(json));
  if (parsed.success) return parsed.data as PriceList;
  const [{ path, message } = { path: [], message: "" }] = parsed.error.issues;
  throw new Error(`${path.join(".") || "the list"}: ${message}`);
}

let generation = 0;
let current = "genai-prices";

/** @param from the list's name, such as its URL and day */
export function applyPriceList(list: PriceList, from: string): void {
  updatePrices(({ setProviderData }) => setProviderData(list));
  generation += 1;
  current = from;
}

export const priceListInUse = (): { generation: number; from: string } => ({ generation, from: current });

/** The list of 2026 has 1.1 MB. */
const bounds = { bytes: 16 * 1024 * 1024, timeoutMs: 30_000 };

/**
 * Does not follow redirects.
 * @throws Error with the reason: too large, too slow, redirected, or not 200
 */
export async function fetchText(url: string, { bytes, timeoutMs } = bounds): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    redirect: "manual",
    signal,
    headers: { Accept: "application/json", "User-Agent": "Spoor" },
  });
  try {
    if (response.status !== 200) throw new Error(`the server answered ${response.status}`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > bytes) throw new Error(`the answer is larger than ${bytes} bytes`);
      chunks.push(chunk);
    }
    return new TextDecoder("utf8", { fatal: true }).decode(Buffer.concat(chunks));
  } finally {
    await response.body?.cancel().catch(() => {}); // closes the connection where the rest is not wanted
  }
}
