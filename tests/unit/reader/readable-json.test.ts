import { expect, test } from "vitest";
import { readableJson } from "#lib/transcript/text";

/** A value, so many levels deep. */
const within = (levels: number, value: unknown): unknown => (levels === 0 ? value : [within(levels - 1, value)]);

test.each([
  ["nothing", undefined, ""],
  ["a text", "a", '"a"'],
  ["fields", { a: 1, b: [{ c: null }] }, '{\n  "a": 1,\n  "b": [\n    {\n      "c": null\n    }\n  ]\n}'],
])("JSON for people is indented: %s", (_, value, text) => expect(readableJson(value)).toBe(text));

test("JSON of usual sessions is indented, however long", () => {
  const result = { status: "ok", lines: Array.from({ length: 2000 }, (_, n) => ({ number: n, text: `line ${n}` })) };
  expect(readableJson(result, 1)).toBe(JSON.stringify(result, null, 1));
});

test.each([0, 1, 8, 30, 58])(
  "JSON of many numbers, %i levels deep, is at most a few times as long for people",
  (levels) => {
    for (const numbers of [10, 1000, 20_000]) {
      const value = within(levels, Array(numbers).fill(1));
      const [json, text] = [JSON.stringify(value), readableJson(value)];
      expect(JSON.parse(text)).toEqual(value);
      if (json.length > 4096) expect(text.length).toBeLessThan(7 * json.length);
    }
  },
);
