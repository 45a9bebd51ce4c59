/** The two letters that stand for an agent: initials of its words (a last "cli" aside), or the first two of its one. */
export function monogramOf(source: string): string {
  const words = source
    .replace(/\Wcli$/i, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const [first = "", second] = words;
  const letters = second ? [...first].slice(0, 1).concat([...second].slice(0, 1)) : [...first].slice(0, 2);
  return letters.join("").toUpperCase() || "?";
}
