/** Finds the candidate within two edits of a mistyped word (one for short words), or one that the word begins. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const maxDistance = word.length < 4 ? 1 : 2;
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= maxDistance || candidate.startsWith(word.toLowerCase()))
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate;
}

/** Levenshtein distance: insertions, deletions and substitutions. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    let [diagonal = 0] = row;
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const above = row[column + 1] ?? 0;
      next.push(Math.min(above + 1, (next[column] ?? 0) + 1, diagonal + (letter === other ? 0 : 1)));
      diagonal = above;
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
