// Escapes that the search does not read as they stand: of JSON in a text, at any depth and as each language writes it, and of HTML.
import type { SecretPlace } from "#lib/secrets/shape";

/** A slash or any character; the backslashes before a quote or a line's end, of which one is enough; and what HTML escapes. */
const escapes =
  /(?<!\\)(?:\\+(?:\/|u([\da-fA-F]{4}))|\\{2,}(?=["'bfnrt]))|&(?:(quot|#34)|(?:apos|#39)|(amp)|(lt)|(gt));/g;

/** By what a text is known to have some: of `&#34;` without the sign that no other word has. A few backslashes before a quote are read as they stand: most JSON has them. */
export const escapeWords = ["\\/", "\\u", "\\\\\\\\", "&quot;", "&apos;", "&amp;", "&lt;", "&gt;", "34;", "39;"];

/** The one character that an escape stands for. */
function unescape(written: string, code?: string, quot?: string, amp?: string, lt?: string, gt?: string): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  if (written.startsWith("\\")) return written.endsWith("/") ? "/" : "\\";
  return (quot && '"') ?? (amp && "&") ?? (lt && "<") ?? (gt && ">") ?? "'";
}

/** A text with its escapes as the characters that they stand for; undefined where it has none. */
export function removeEscapes(text: string): string | undefined {
  const plain = text.replace(escapes, unescape);
  return plain === text ? undefined : plain;
}

/** The same places, in their order and without overlaps, in the text that still has its escapes. */
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
