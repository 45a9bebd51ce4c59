import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readCarefully } from "#lib/ingest/decode/manifest";
import {
  batch,
  careful,
  compareMutated,
  encoded,
  expectFirstErrors,
  expectTruncationsRefused,
  longNumbers,
  message,
  plain,
  plainBatches,
  trace,
} from "./batches.ts";

describe("the quick reading of a batch has the same result as the careful one", () => {
  test.each(Object.entries(plainBatches))("%s", (_, value) => {
    const bytes = encoded(value);
    expect(plain(bytes)).toEqual(careful(bytes));
    expect(plain(bytes)).toBeDefined();
  });

  test.each(readdirSync("tests/fixtures/sessions"))("%s", (name) => {
    const session = JSON.parse(readFileSync(`tests/fixtures/sessions/${name}`, "utf8"));
    const bytes = encoded({ traces: [session] });
    expect(plain(bytes)).toEqual(careful(bytes));
    expect(plain(bytes)).toBeDefined();
  });
});

test.each([
  ["a control character in a text", '{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\n"}]}]}'],
  ["an unknown escape", '{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\\x"}]}]}'],
  ["half an escape at the end", '{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\\'],
  ["an escape with other digits", '{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\\u00g0"}]}]}'],
  ["a number with a leading zero", '{"traces":[{"sourceId":"a","messages":[{"position":01,"content":""}]}]}'],
  ["a comma too many", '{"traces":[{"sourceId":"a","messages":[{"position":1,"content":"",}]}]}'],
  ["brackets that do not match", '{"traces":[{"sourceId":"a","metadata":{"x":[1}],"messages":[]}]}'],
  ["trailing bytes", '{"traces":[]}{}'],
  ["a byte order mark", '\ufeff{"traces":[]}'],
  ["a position twice", JSON.stringify(batch(message, message))],
  ["no position", JSON.stringify(batch({ content: "" }))],
  ["a position over the limit", JSON.stringify(batch({ ...message, position: 2_147_483_648 }))],
  ["a role over the limit", JSON.stringify(batch({ ...message, role: "x".repeat(33) }))],
  ["a day that does not exist", JSON.stringify(batch({ ...message, createdAt: "2026-02-30T00:00:00Z" }))],
  ["an hour that does not exist", JSON.stringify(batch({ ...message, createdAt: "2026-02-03T24:00:00Z" }))],
  ["a key in U+0000", JSON.stringify({ traces: [{ ...trace, sourceId: "\0" }] })],
  [
    "metadata of numbers that are long when they are written out",
    `{"traces":[{"sourceId":"a","metadata":{"x":[${"1e308,".repeat(900)}1]},"messages":[]}]}`,
  ],
  ["such numbers in a message", JSON.stringify(longNumbers(10, 900))],
  ["such numbers in two messages together", JSON.stringify(longNumbers(450, 450))],
  ["as many very small numbers", JSON.stringify(longNumbers(900)).replaceAll("1e+308", "1e-308")],
  [
    "nesting over the limit",
    `{"traces":[{"sourceId":"a","metadata":${"[".repeat(70)}${"]".repeat(70)},"messages":[]}]}`,
  ],
  [
    "too many traces",
    JSON.stringify({ traces: Array.from({ length: 1001 }, (_, n) => ({ sourceId: `${n}`, messages: [] })) }),
  ],
])("neither reading accepts %s", (_, text) => {
  const bytes = Buffer.from(text);
  expect(plain(bytes)).toBeUndefined();
  expect(careful(bytes)).toBeUndefined();
});

test("of numbers that are long when they are written out the message that has most is told, of each trace", () => {
  const [trace] = longNumbers(10, 900, 20).traces;
  const bytes = encoded({ traces: [{ sourceId: "b", messages: [message] }, trace, { ...trace, sourceId: "c" }] });
  expect(() => readCarefully(bytes)).toThrow(
    expect.objectContaining({
      code: "invalid_request",
      errors: [1, 2].map((index) => ({
        path: `traces.${index}.messages.1.metadata`,
        message: expect.stringMatching(/too long without their exponents/),
      })),
    }),
  );
});

test.each([
  ["that stands twice", '"sourceId":"b",', '"content":"y"'],
  ["of a message that stands twice", "", '"content":"y"'],
  ["of metadata that stands twice", "", '"metadata":{"a":1,"a":2}'],
  ["__proto__", '"__proto__":{"x":1},', '"x":1'],
  ["__proto__ of a message", "", '"__proto__":[]'],
])("a field %s is left to the careful reading, which masks all that was sent", (_, fields, more) => {
  const bytes = Buffer.from(`{"traces":[{"sourceId":"a",${fields}"messages":[{"position":0,"content":"",${more}}]}]}`);
  expect(plain(bytes)).toBeUndefined();
  expect(careful(bytes)).toBeDefined();
});

test("invalid UTF-8 is not plain", () => {
  const bytes = Buffer.from('{"traces":[{"sourceId":"a","messages":[{"position":0,"content":"\xff"}]}]}', "latin1");
  expect(plain(bytes)).toBeUndefined();
  expect(careful(bytes)).toBeUndefined();
});

// With more of each, and measured, in tests/long/unit/scanner.test.ts.
test("both readings refuse every truncation of a body with every kind of escape", () => expectTruncationsRefused());

test("of many invalid messages only the first errors are reported", () => expectFirstErrors(20, 2000));

test("the quick reading of mutated batches never differs from the careful one", () => {
  expect(compareMutated(5000)).toBeGreaterThan(100);
});
