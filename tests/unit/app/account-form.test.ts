import { expect, test } from "vitest";
import { accountForm } from "#lib/auth/schema";

test.each([
  ["a NUL, which PostgreSQL can't store", " A\0da \n", "Ada"],
  ["half a character", "Ada \ud83d", "Ada \ufffd"],
  ["marks of direction, by which it would look like another", "\u202eAda", "Ada"],
  ["nothing that shows", "\u202e \0", undefined],
  ["too many characters", "x".repeat(101), undefined],
])("a person's name with %s", (_, name, kept) => {
  expect(accountForm.shape.name.safeParse(name).data).toBe(kept);
});
