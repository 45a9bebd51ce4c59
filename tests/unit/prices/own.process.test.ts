import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitForUpdate } from "@pydantic/genai-prices";
import { afterEach, describe, expect, test } from "vitest";
import { parseEnv, setEnv } from "#lib/core/env";
import { applyPriceList, parsePriceList } from "#lib/prices/list";
import { forgetOwnPrices, ownPrices, parseOwnPrices } from "#lib/prices/own";
import { computePrice, type PriceQuestion } from "#lib/prices/price";
import { priceTable } from "#server/background/price-table";

const file = join(mkdtempSync(join(tmpdir(), "prices-")), "prices.json");
const question: PriceQuestion = {
  model: "claude-opus-4-8",
  source: "claude-code",
  at: new Date("2026-11-01T12:00:00Z"),
  usage: { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 10, cacheWrite1hTokens: 1 },
};
const listCost = 5_000_000n + 2_500_000n + 5000n + 10_000n;

function useFile(content: unknown): void {
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  setEnv({ PRICES_FILE: file });
  forgetOwnPrices();
}

const cost = (asked: Partial<PriceQuestion> = {}) => computePrice({ ...question, ...asked })?.costNano;

afterEach(() => {
  setEnv({ PRICES_FILE: undefined });
  forgetOwnPrices();
});

describe("PRICES_FILE", () => {
  test("has prices of models that the list lacks, and other ones of those that it has, from a day on", () => {
    useFile({
      prices: [
        { model: "our-model", input: 1, output: 2.5 },
        {
          model: "claude-opus-4-8",
          from: "2026-11-01",
          input: 4,
          output: 20,
          cacheRead: 0.1,
          cacheWrite5m: 1,
          webSearch: 5,
        },
        { model: "claude-opus-4-8", from: "2026-12-01", input: 1, output: 1 },
      ],
    });
    expect(cost({ model: "Our-Model" })).toBe(1000n * 1000n + 100n * 2500n + 11n * 1000n); // the cache is part of the input
    expect(cost({ at: new Date("2026-10-31T23:59:59Z") })).toBe(listCost);
    expect(cost({ webSearches: 1 })).toBe(4_000_000n + 2_000_000n + 1000n + 1000n + 5_000_000n);
    expect(cost({ at: new Date("2026-12-01T00:00:00Z") })).toBe(1_111_000n);
    expect(computePrice(question)?.by).toEqual({ from: "PRICES_FILE", model: "claude-opus-4-8", tier: "standard" });
  });

  test("may take a factor on the list price, exactly; an exact name counts before a pattern, a longer pattern before a shorter", () => {
    useFile({
      prices: [
        { model: "*", factor: 0.5 },
        { model: "claude-*", factor: 0.85 },
        { model: "claude-*-5*", factor: 0 },
        { model: "claude-opus-4-7", factor: 2 },
      ],
    });
    expect(cost()).toBe((listCost * 85n) / 100n);
    expect(computePrice(question)?.by).toMatchObject({ from: "genai-prices", provider: "anthropic", factor: 0.85 });
    expect(cost({ model: "claude-opus-4-7" })).toBe(listCost * 2n);
    expect(cost({ model: "claude-opus-4-5-20251101" })).toBe(0n);
    expect(cost({ model: "gpt-5", usage: { inputTokens: 1000 } })).toBe(625_000n);
    expect(cost({ model: "no-such-model" })).toBeUndefined(); // half of an unknown price is unknown
  });

  test("prices in the shown currency are converted by its rate", () => {
    useFile({
      currency: { code: "EUR", perDollar: 0.8 },
      prices: [{ model: "our-model", currency: "EUR", input: 1, output: 4 }],
    });
    expect(cost({ model: "our-model", usage: { inputTokens: 1000, outputTokens: 100 } })).toBe(1_250_000n + 500_000n);
    expect(ownPrices().currency).toEqual({ code: "EUR", perDollar: 0.8 });
  });

  test.each([
    ["{", /PRICES_FILE is not JSON/],
    [{ prices: [{ model: "a", input: 1 }] }, /prices\[0\]\.output: must be set, or a factor/],
    [{ prices: [{ model: "a", input: 1, output: -1 }] }, /prices\[0\]\.output: /],
    [{ prices: [{ model: "a", factor: 0.5, input: 1 }] }, /prices\[0\]\.factor: can't be combined/],
    [{ prices: [{ model: "a", factor: "0.5" }] }, /prices\[0\]\.factor: /],
    [{ prices: [{ model: "a", factor: 1, from: "soon" }] }, /prices\[0\]\.from: must be a day/],
    [{ prices: [{ model: "a", factor: 1, typo: 1 }] }, /prices\[0\]: .*typo/],
    [{ prices: [{ model: "a", input: 1, output: 1, currency: "CHF" }] }, /prices\[0\]\.currency: must be USD/],
    [{ currency: { code: "Euro", perDollar: 1 } }, /currency\.code: must be a currency's code/],
    [{ currency: { code: "EUR", perDollar: 0 } }, /currency\.perDollar: /],
    ["x".repeat(1_100_000), /larger than/],
  ])("stops with what is wrong in it, and where: %.60j", (content, message) => {
    useFile(content);
    expect(() => ownPrices()).toThrow(message);
  });

  test("that is wrong stops the start before anything is done, in words", () => {
    useFile({ prices: [{ model: "a", input: 1 }] });
    const { status, stderr } = spawnSync(process.execPath, ["--conditions=react-server", "server/prepare.ts"], {
      env: { ...process.env, PRICES_FILE: file },
      encoding: "utf8",
    });
    expect(stderr).toMatch(/^PRICES_FILE is not valid\.\n {2}prices\[0\]\.output: must be set/);
    expect(status).toBe(1);
  }, 30_000);

  test("that is not there stops, too", () => {
    setEnv({ PRICES_FILE: `${file}.missing` });
    expect(() => ownPrices()).toThrow(/PRICES_FILE can't be read: ENOENT/);
    expect(parseOwnPrices("{}")).toEqual({ currency: { code: "USD", perDollar: 1 }, prices: [] });
  });
});

describe("a newer price list", () => {
  test("has the format of the delivered one, and prices as that does", async () => {
    const delivered = await waitForUpdate();
    const before = cost();
    const list = parsePriceList(JSON.stringify(delivered));
    expect(list.map(({ models }) => models.length)).toEqual(delivered?.map(({ models }) => models.length));
    applyPriceList(list, "a test");
    expect(cost()).toBe(before);
    expect(computePrice(question)?.by.from).toBe("a test");
    const opus = list.flatMap(({ models }) => models).find(({ id }) => id === "claude-opus-4-8");
    if (opus) opus.prices = { input_mtok: 50, output_mtok: 250 };
    applyPriceList(list, "another");
    expect(cost()).toBe(50_000n * 1011n + 250_000n * 100n);
    applyPriceList(delivered ?? [], "genai-prices");
  });

  test("that is wrong is refused with the place", async () => {
    const list = JSON.parse(JSON.stringify(await waitForUpdate()));
    const broken = (change: (list: typeof delivered) => void) => {
      const copy = structuredClone(list);
      change(copy);
      return () => parsePriceList(JSON.stringify(copy));
    };
    type Any = { models: { prices: unknown; match: unknown }[] }[];
    const delivered: Any = list;
    const first = (copy: Any) => copy[0]?.models[0] ?? { prices: 0, match: 0 };
    expect(() => parsePriceList("<html>")).toThrow(SyntaxError);
    expect(() => parsePriceList("{}")).toThrow(/the list/);
    expect(() => parsePriceList("[]")).toThrow(/must be a list of providers/);
    expect(broken((copy) => Object.assign(first(copy), { prices: { input_mtok: -1 } }))).toThrow(
      /^0\.models\.0\.prices/,
    );
    expect(broken((copy) => Object.assign(first(copy), { prices: { input_mtok: "1" } }))).toThrow(
      /^0\.models\.0\.prices/,
    );
    expect(broken((copy) => Object.assign(first(copy), { match: { regex: "^(a+)+$" } }))).toThrow(
      /^0\.models\.0\.match/,
    );
    expect(broken((copy) => Object.assign(first(copy), { match: { regex: "(" } }))).toThrow(/^0\.models\.0\.match/);
  });

  test("comes from https, or from loopback", () => {
    for (const url of ["https://prices.example/data.json", "http://localhost:81/x", "http://127.0.0.1:81/x"]) {
      expect(parseEnv({ PRICES_URL: url }).PRICES_URL).toBe(url);
    }
    for (const url of ["http://prices.example/data.json", "ftp://prices.example/", "https://a:b@prices.example/"]) {
      expect(() => parseEnv({ PRICES_URL: url })).toThrow(/PRICES_URL/);
    }
  });
});

describe("what a model costs, as npm run admin -- prices tells it", () => {
  test("its prices by kind and length of context, and from where", () => {
    expect(priceTable("claude-opus-4-6[1m]", "2026-03-01")).toEqual([
      "claude-opus-4-6[1m] (claude-opus-4-6) on 2026-03-01: genai-prices, anthropic, claude-opus-4-6",
      "  input               $5 a million tokens, $10 above 200,000 of input",
      "  output              $25 a million tokens, $37.5 above 200,000 of input",
      "  cache read          $0.5 a million tokens, $1 above 200,000 of input",
      "  cache write, 5 min  $6.25 a million tokens, $12.5 above 200,000 of input",
      "  cache write, 1 h    $10 a million tokens, $20 above 200,000 of input",
      "  web searches        $10 a thousand",
    ]);
    useFile({
      prices: [
        { model: "*", factor: 0.5 },
        { model: "ours", input: 0.25, output: 1 },
      ],
    });
    expect(priceTable("gpt-5-nano", "2026-11-01").slice(0, 2)).toEqual([
      "gpt-5-nano on 2026-11-01: genai-prices, openai, gpt-5-nano, times 0.5 by PRICES_FILE",
      "  input               $0.025 a million tokens",
    ]);
    expect(priceTable("ours", "2026-11-01")[0]).toBe("ours on 2026-11-01: PRICES_FILE, ours");
    expect(priceTable("no-such", "2026-11-01")).toEqual([
      "no-such on 2026-11-01 has no price: its tokens are counted as unpriced. Add a price in PRICES_FILE.",
    ]);
    expect(() => priceTable("gpt-5", "soon")).toThrow("soon is not a date");
  });
});
