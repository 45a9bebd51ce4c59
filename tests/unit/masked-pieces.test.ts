import { beforeEach, describe, expect, test, vi } from "vitest";
import { maskForOthers } from "#lib/secrets/mask";
import { textForOthers } from "#lib/traces/for-others";
import { maskPieces } from "#lib/traces/masked";
import { formed, harmless, randomOf, surrounded } from "./secrets/made-up.ts";

/** How many characters were searched, and at most at once. */
const searched = vi.hoisted(() => ({ chars: 0, longest: 0 }));
vi.mock("#lib/secrets/find", async (load) => {
  const { findSecrets, ...others } = await load<typeof import("#lib/secrets/find")>();
  const counted = (text: string) => {
    searched.chars += text.length;
    searched.longest = Math.max(searched.longest, text.length);
    return findSecrets(text);
  };
  return { ...others, findSecrets: counted };
});
beforeEach(() => Object.assign(searched, { chars: 0, longest: 0 }));

const KiB = 1024;
const token = ["ghp", "_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("");

async function* cut(text: string, sizeOf: () => number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; ) {
    const size = sizeOf();
    yield text.slice(at, at + size);
    at += size;
  }
}

async function inPieces(text: string, sizeOf: () => number, mask = maskForOthers): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of maskPieces(cut(text, sizeOf), mask)) parts.push(part);
  return parts;
}

/** Fills a text of so many characters. */
function fill(chars: number, next: () => string): string {
  const parts: string[] = [];
  for (let length = 0; length < chars; ) {
    const part = next();
    parts.push(part);
    length += part.length;
  }
  return parts.join("");
}

describe("a text in which each line has a secret", () => {
  const text = fill(8 * KiB * KiB, () => `2026-11-24T10:00:00Z GET /login token=${token} 200\n`);

  test("is sent piece by piece, and searched less than three times", { timeout: 60_000 }, async () => {
    const parts = await inPieces(text, () => KiB * KiB);
    expect(searched.chars).toBeLessThan(3 * text.length);
    expect(searched.longest).toBeLessThan(1.5 * KiB * KiB);
    expect(parts.length).toBe(9);
    expect(parts.join("") === maskForOthers(text)).toBe(true);
  });

  test("so it is where the pieces are short", { timeout: 60_000 }, async () => {
    const parts = await inPieces(text, () => 5000);
    expect(searched.chars).toBeLessThan(3 * text.length);
    expect(parts.join("") === maskForOthers(text)).toBe(true);
  });
});

/** Blocks of a text: prose, with characters of two units, and secrets one right after the other. */
function blocksOf(random: () => number): () => string {
  const pick = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
  const upTo = (count: number) => Math.floor(random() * count);
  const between = () => pick(["\n", " ", "\n\n", " \u{1f600} "]);
  const secrets = () => pick([() => pick(formed)[1], () => pick(surrounded).slice(1).join("")])();
  const run = (count: number, next: () => string) => Array.from({ length: count }, () => next() + between()).join("");
  const isOneLine = random() < 0.2;
  const makers = [
    () => run(upTo(30), secrets),
    () => run(upTo(600), () => token),
    () => run(upTo(20), () => pick(harmless)),
    () => `${"so it goes, word by word. ".repeat(upTo(5000))}\n`,
    () => "so\nit\ngoes\n".repeat(upTo(5000)),
    () => "\u{1f600}".repeat(upTo(60_000)),
  ];
  return () => (isOneLine ? pick(makers)().replaceAll("\n", " ") : pick(makers)());
}

describe("secrets and prose in any order, in pieces of any size", () => {
  test.each(Array.from({ length: 24 }, (_, seed) => seed))("are masked as in one (%d)", async (seed) => {
    const random = randomOf(seed);
    const text = fill((1 + random() * 2) * KiB * KiB, blocksOf(random));
    const maxSize = [700, 30 * KiB, 300 * KiB, KiB * KiB][seed % 4] ?? 1;
    const parts = await inPieces(text, () => 1 + Math.floor(random() * maxSize));
    expect(searched.chars).toBeLessThan(3 * text.length);
    expect(parts.join("") === maskForOthers(text)).toBe(true);
    expect(parts.every((part) => part.isWellFormed())).toBe(true);
  });
});

test("a text without blanks and line ends is sent too, and no part of a secret of it", async () => {
  const text = fill(3 * KiB * KiB, () => `,"${token}","x":"${"y".repeat(20)}"`);
  const parts = await inPieces(text, () => 100_001);
  expect(parts.length).toBeGreaterThan(5);
  expect(parts.join("") === maskForOthers(text)).toBe(true);
  expect(parts.join("")).not.toContain(token.slice(4, 12));
});

test("names are hidden beside secrets in each piece", async () => {
  const text = fill(2 * KiB * KiB, () => `ada@web-1:/home/ada/api$ export TOKEN=${token}\n`);
  const parts = await inPieces(text, () => KiB * KiB, textForOthers);
  expect(parts.join("") === textForOthers(text)).toBe(true);
  expect(parts.join("")).not.toMatch(/ada|web-1|ghp_/);
});
