// What is made to take long, in a time that grows with the square of its length, would take minutes here.
import { waitForUpdate } from "@pydantic/genai-prices";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandsOfScript } from "#common/evidence/commands";
import { spell } from "#common/evidence/spelling";
import type { LedgerMessage, LedgerTrace } from "#lib/ledger/part";
import { readTraceUsage } from "#lib/ledger/usage/reading";
import { applyPriceList, parsePriceList } from "#lib/prices/list";
import { computePrice } from "#lib/prices/price";
import { describe as describeMessage } from "#lib/search/index/speaker";
import { makeFileReader } from "#lib/transcript/files/touches";
import { deriveTitle } from "#lib/transcript/titles/derive-title";

describe("what a member sends is read in a time that grows with its length:", () => {
  test.each([" ", "\t", "#", " #"])("a plan's heading that goes on with %j", (sign) => {
    for (const heading of [`# plan\n# Ship it${sign.repeat(60_000)}x`, `# plan\n## Ship it ${sign.repeat(60_000)}`])
      expect(deriveTitle([{ role: "user", text: heading }])?.title).toMatch(/^Ship it/);
  });

  test.each(["::", ":/", "/x:"])("a repository that ends with %j", (end) => {
    const metadata = { cwd: "/srv/x", repository: `${"a".repeat(250_000)}${end}` };
    expect(makeFileReader({ source: "pi", metadata }).touches()).toEqual([]);
  });

  test("a path that begins a pattern without end", () => {
    const reader = makeFileReader({ source: "pi", metadata: { cwd: "/srv/x" } });
    const tool = { name: "Read", input: { file_path: "{".repeat(1_000_000) } };
    const metadata = { tool, result: { output: "x" } };
    reader.add({ position: 0, role: "assistant", content: "", tokenCount: null, createdAt: null, metadata });
    expect(reader.touches()).toEqual([]);
  });

  test("answers of one id that have nothing in common", () => {
    const count = 30_000;
    const reading = readTraceUsage({ source: "pi", metadata: null } as LedgerTrace);
    for (let position = 0; position < count; position += 1) {
      const metadata = { requestId: "r", usage: { inputTokens: position + 1, outputTokens: 1 } };
      const role = position % 2 === 0 ? "user" : "assistant";
      reading.see({ position, role, content: "", tokenCount: null, createdAt: null, metadata } as LedgerMessage);
    }
    expect(reading.found().used).toHaveLength(count);
  });

  test("names of models that no list has: the list is looked through once", async () => {
    const delivered = (await waitForUpdate()) ?? [];
    const list = parsePriceList(JSON.stringify(delivered));
    onTestFinished(() => applyPriceList(delivered, "genai-prices"));
    let [models, reads] = [0, 0];
    for (const model of list.flatMap((provider) => provider.models)) {
      const { id } = model;
      models += 1;
      Object.defineProperty(model, "id", { enumerable: true, get: () => (reads++, id) });
    }
    applyPriceList(list, "a test");
    const [usage, at] = [{ inputTokens: 10 }, new Date("2026-11-01")];
    for (let n = 0; n < 50; n += 1) computePrice({ model: `gpt-9.9-nobody${n}`, source: "pi", at, usage });
    expect(reads).toBeGreaterThan(100);
    expect(reads).toBeLessThan(3 * models);
  });
});

test.each([
  ["shell", "[", "]"],
  ["thing", '{"a":', "}"],
])("the input of %s as JSON in a text stays one where it is nested deeper than any", (name, open, close) => {
  const json = `{"command":${open.repeat(30_000)}1${close.repeat(30_000)}}`;
  const metadata = { type: "function_call", call_id: "c", name, arguments: json };
  expect(describeMessage({ role: "assistant", content: "", metadata }).facts).toContain(`tool:${name}`);
});

test("a script of millions of characters proves nothing, and stops no reading", () => {
  expect(commandsOfScript(`git x; tools.exec_command({cmd: "git ${"a".repeat(12_000_000)}`)).toBeUndefined();
  expect(commandsOfScript(`tools.exec_command({cmd: "git ${"a".repeat(400_000)}"})`)).toMatch(/^git a+$/);
});

test("a path of nothing but accents is composed in no time that grows with their square", () => {
  const path = `/home/ada/a${"\u0301\u0316".repeat(50_000)}`;
  const startedAt = performance.now();
  expect(spell(path).path).toBe(path);
  expect(performance.now() - startedAt).toBeLessThan(1000);
  expect(spell("/home/jose\u0301").path).toBe("/home/jos\u00e9");
});
