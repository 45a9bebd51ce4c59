import { expect, test } from "vitest";
import { SpoorError } from "#lib/core/errors";
import { computePrice } from "#lib/prices/price";
import { parseQuery } from "#lib/search/query";
import { findToolKind } from "#lib/transcript/vocabulary";

const usage = { inputTokens: 10, outputTokens: 10 };
const at = new Date("2026-11-01");

test.each(["constructor", "__proto__", "toString"])(
  "what every object has (%s) names no provider, agent, tool or role",
  (name) => {
    const known = computePrice({ model: "claude-opus-4-5", source: "pi", at, usage });
    expect(known).toBeDefined();
    expect(computePrice({ model: "claude-opus-4-5", source: name, at, usage })).toEqual(known);
    expect(computePrice({ model: "nobody-knows-1", source: name, at, usage })).toBeUndefined();
    expect(computePrice({ model: `${name}/claude-opus-4-5`, source: "pi", at, usage })).toBeUndefined();
    expect(findToolKind("nothing", name)).toBe("unknown");
    expect(() => parseQuery(`x role:${name}`)).toThrow(SpoorError);
  },
);

test("a model whose name goes on with dates without end is looked up at once", () => {
  const model = `claude-opus-4-5${"-0000-00-00".repeat(16)}!`;
  for (let n = 0; n < 20; n += 1)
    expect(computePrice({ model: `${model}${n}`, source: "pi", at, usage })).toBeUndefined();
});
