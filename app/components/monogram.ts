/** The initials of the agent's words, except a final "cli", or the first two letters of a single word. */
export function makeMonogram(source: string): string {
  const words = source
    .replace(/\Wcli$/i, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const [first = "", second] = words;
  const letters = second ? [...first].slice(0, 1).concat([...second].slice(0, 1)) : [...first].slice(0, 2);
  return letters.join("").toUpperCase() || "?";
}
