// Texts that are masked piece by piece.
import { expect } from "vitest";
import { maskForOthers } from "#common/secrets/mask";
import { maskPieces } from "#lib/masking/mask-pieces";
import { makeRandom } from "../../support/random.ts";
import { formed, harmless, surrounded } from "./made-up.ts";

export const KiB = 1024;
export const token = ["ghp", "_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2"].join("");

async function* cut(text: string, sizeOf: () => number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; ) {
    const size = sizeOf();
    yield text.slice(at, at + size);
    at += size;
  }
}

/** Masks a text that comes in pieces. */
export async function inPieces(text: string, sizeOf: () => number, mask = maskForOthers): Promise<string[]> {
  const parts: string[] = [];
  for await (const part of maskPieces(cut(text, sizeOf), mask)) parts.push(part);
  return parts;
}

/** Fills a text of so many characters. */
export function fill(chars: number, next: () => string): string {
  const parts: string[] = [];
  for (let length = 0; length < chars; ) {
    const part = next();
    parts.push(part);
    length += part.length;
  }
  return parts.join("");
}

/** Blocks of a text: prose, with characters of two units, and secrets one right after the other. */
function getBlocks(random: () => number): () => string {
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

/** Masks secrets and prose in any order, in pieces of any size. @param size in MiB, and so much more at random. @returns how long the text was */
export async function expectMaskedAsInOne(seed: number, [least, more]: [number, number]): Promise<number> {
  const random = makeRandom(seed);
  const text = fill((least + random() * more) * KiB * KiB, getBlocks(random));
  const maxSize = [700, 30 * KiB, 300 * KiB, KiB * KiB][seed % 4] ?? 1;
  const parts = await inPieces(text, () => 1 + Math.floor(random() * maxSize));
  expect(parts.join("") === maskForOthers(text)).toBe(true);
  expect(parts.every((part) => part.isWellFormed())).toBe(true);
  return text.length;
}
