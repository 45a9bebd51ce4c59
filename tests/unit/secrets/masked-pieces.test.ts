import { beforeEach, describe, expect, test, vi } from "vitest";
import { maskForOthers } from "#common/secrets/mask";
import { textForOthers } from "#lib/masking/for-others";
import { makeMask } from "#lib/masking/mask-pieces";
import { expectMaskedAsInOne, fill, inPieces, KiB, token } from "./pieced.ts";

/** How many characters were searched, and at most at once. */
const searched = vi.hoisted(() => ({ chars: 0, longest: 0 }));
vi.mock("#common/secrets/find-secrets", async (load) => {
  const { findSecrets, ...others } = await load<typeof import("#common/secrets/find-secrets")>();
  const counted = (text: string) => {
    searched.chars += text.length;
    searched.longest = Math.max(searched.longest, text.length);
    return findSecrets(text);
  };
  return { ...others, findSecrets: counted };
});
beforeEach(() => Object.assign(searched, { chars: 0, longest: 0 }));

describe("a text in which each line has a secret", () => {
  const text = fill(0.8 * KiB * KiB, () => `2026-11-24T10:00:00Z GET /login token=${token} 200\n`);

  test("is sent piece by piece, and searched less than three times", { timeout: 60_000 }, async () => {
    const parts = await inPieces(text, () => 400 * KiB);
    expect(searched.chars).toBeLessThan(3 * text.length);
    expect(searched.longest).toBeLessThan(0.6 * KiB * KiB);
    expect(parts.length).toBe(3);
    expect(parts.join("") === maskForOthers(text)).toBe(true);
  });

  test("so it is where the pieces are short", { timeout: 60_000 }, async () => {
    const parts = await inPieces(text, () => 5000);
    expect(searched.chars).toBeLessThan(3 * text.length);
    expect(parts.join("") === maskForOthers(text)).toBe(true);
  });
});

describe("secrets and prose in any order, in pieces of any size", () => {
  // Of more texts in tests/long/unit/masked-pieces.test.ts.
  test.each([0, 1, 2, 3])("are masked as in one (%d)", async (seed) => {
    const chars = await expectMaskedAsInOne(seed, [0.6, 0.8]);
    // What they are compared with is searched as a whole.
    expect(searched.chars - chars).toBeLessThan(3 * chars);
  });
});

test("a text without blanks and line ends is sent too, and no part of a secret of it", async () => {
  const text = fill(0.9 * KiB * KiB, () => `,"${token}","x":"${"y".repeat(20)}"`);
  const parts = await inPieces(text, () => 100_001);
  expect(parts.length).toBe(3);
  expect(parts.join("") === maskForOthers(text)).toBe(true);
  expect(parts.join("")).not.toContain(token.slice(4, 12));
});

test("names are hidden beside secrets in each piece", async () => {
  const text = fill(0.6 * KiB * KiB, () => `ada@web-1:/home/ada/api$ export TOKEN=${token}\n`);
  const parts = await inPieces(text, () => 200 * KiB, makeMask("all", { machine: null, owners: [] }));
  expect(parts.join("") === textForOthers(text)).toBe(true);
  expect(parts.join("")).not.toMatch(/ada|web-1|ghp_/);
});

test("a name is hidden in all pieces behind the folder that tells it, and no folder is cut", async () => {
  const size = 0.5 * KiB * KiB;
  const prose = fill(size, () => "so it goes, word by word\n");
  const told = await inPieces(
    `in /home/lovelace/api\n${prose}lovelace`,
    () => size,
    makeMask("all", { machine: null, owners: [] }),
  );
  expect(told.join("") === `in ~/api\n${prose}[user]`).toBe(true);
  for (let before = 0; before < 4; before += 1) {
    const paths = "x".repeat(before) + fill(size, () => '"/home/lovelace/p",');
    expect((await inPieces(paths, () => size, makeMask("all", { machine: null, owners: [] }))).join("")).not.toMatch(
      /love|lace|home/,
    );
  }
});

test.each([
  ["lines", "\n"],
  ["JSON", "\\n"],
])("a table's passwords are hidden in each piece, by its header: in %s", async (_what, lineEnd) => {
  const head = ["before", "| user | password |", "|---|---|", ""].join(lineEnd);
  const rows = fill(0.7 * KiB * KiB, () => `| ada | kX4vb9!qLz |${lineEnd}`);
  const text = `${head}${rows}behind | it${lineEnd}`;
  const parts = await inPieces(text, () => 150 * KiB);
  expect(parts.length).toBe(2);
  expect(parts.join("") === maskForOthers(text)).toBe(true);
  expect(parts.join("")).not.toContain("vb9");
});
