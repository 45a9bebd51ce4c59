import { expect, test } from "vitest";
import { z } from "zod";
import { fieldErrors } from "#lib/core/fields";

const shape = z.object({
  text: z.string().min(1).max(3),
  long: z.string().min(2),
  count: z.int().min(0).max(5),
  ratio: z.number().gt(0),
  list: z.array(z.string()).max(1),
  kind: z.enum(["all", "talk"]),
  only: z.literal(1),
  at: z.iso.datetime(),
  day: z.iso.date(),
  mail: z.email(),
  id: z.uuid(),
  link: z.url(),
  flag: z.boolean(),
  either: z.union([z.literal("a"), z.object({ b: z.string() })]),
  code: z.string().regex(/^x+$/),
  strict: z.strictObject({}),
});

const right = {
  ...{ text: "a", long: "ab", count: 1, ratio: 1, list: [], kind: "all", only: 1, at: "2026-11-20T10:00:00Z" },
  ...{
    day: "2026-11-20",
    mail: "ada@example.org",
    id: "019a9c40-1f2e-7c31-9a70-5b1c7e2d4f60",
    link: "https://a.example",
  },
  ...{ flag: true, either: "a", code: "x", strict: {} },
};

test.each([
  ["text", undefined, "is missing; it must be a text"],
  ["text", 5, "must be a text"],
  ["text", "", "must not be empty"],
  ["text", "secret", "must have at most 3 characters"],
  ["long", "a", "must have at least 2 characters"],
  ["count", 1.5, "must be a whole number"],
  ["count", "5", "must be a number"],
  ["count", -1, "must be at least 0"],
  ["count", 6, "must be at most 5"],
  ["count", 2 ** 53, "must be at most 5"],
  ["count", -(2 ** 53), "must be at least 0"],
  ["ratio", 0, "must be more than 0"],
  ["list", ["a", "b"], "must have at most 1 entry"],
  ["kind", "secret", "must be one of all, talk"],
  ["only", 2, "must be 1"],
  ["at", "secret", "must be a date and time with an offset or Z, such as 2026-11-20T10:00:00Z"],
  ["day", "secret", "must be a day, such as 2026-11-20"],
  ["mail", "secret", "must be an email address, such as ada@example.org"],
  ["id", "secret", "must be a UUID"],
  ["link", "secret", "must be a URL, such as https://example.org"],
  ["flag", "secret", "must be true or false"],
  ["either", "secret", "is not valid"],
  ["code", "secret", "does not have the expected format"],
  ["strict", { secret: 1 }, "has an unknown field: secret"],
] as const)("of the field %s with %j it is said what to send", (path, value, message) => {
  const { error } = shape.safeParse({ ...right, [path]: value });
  expect(error && fieldErrors(error)).toEqual([{ path, message }]);
});

test("each of twenty paths has one error, however many checks fail", () => {
  const { error } = z.array(shape.shape.count).safeParse(Array(30).fill(2 ** 60));
  const message = "must be at most 5";
  expect(error?.issues.length).toBeGreaterThan(30);
  expect(error && fieldErrors(error)).toEqual(Array.from({ length: 20 }, (_, n) => ({ path: `${n}`, message })));
});

test("what is right is taken", () => {
  expect(shape.safeParse(right).success).toBe(true);
});
