// JSON has escapes at any depth, and so has HTML.
import type { SecretPlace } from "#common/secrets/detectors/detector";

/** The backslashes before a quote or a line's end become one. */
const escapes =
  /(?<!\\)(?:\\+(?:\/|u([\da-fA-F]{4}))|\\{2,}(?=["'bfnrt]))|&(?:(quot|#34)|(?:apos|#39)|(amp)|(lt)|(gt));/g;

/** Words that announce escapes. Patterns can read up to three backslashes before a quote, as ordinary JSON has them. */
export const escapeWords = ["\\/", "\\u", "\\\\\\\\", "&quot;", "&apos;", "&amp;", "&lt;", "&gt;", "34;", "39;"];

function toCharacter(written: string, code?: string, quot?: string, amp?: string, lt?: string, gt?: string): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  if (written.startsWith("\\")) return written.endsWith("/") ? "/" : "\\";
  return (quot && '"') ?? (amp && "&") ?? (lt && "<") ?? (gt && ">") ?? "'";
}

export function removeEscapes(text: string): string | undefined {
  const plain = text.replace(escapes, toCharacter);
  return plain === text ? undefined : plain;
}

export function restoreEscapes<P extends SecretPlace>(text: string, places: readonly P[]): P[] {
  const ends = places.flatMap(({ start, end }) => [start, end]);
  const found: number[] = [];
  let [at, plain] = [0, 0];
  const take = (to: number) => {
    for (let end = ends[found.length]; end !== undefined && end <= plain + to - at; end = ends[found.length])
      found.push(at + end - plain);
  };
  for (const { 0: written, index } of text.matchAll(escapes)) {
    if (found.length === ends.length) break;
    take(index);
    plain += index - at + 1;
    at = index + written.length;
  }
  take(text.length);
  return places.map((place, index) => ({
    ...place,
    start: found[2 * index] as number,
    end: found[2 * index + 1] as number,
  }));
}
