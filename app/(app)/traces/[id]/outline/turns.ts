/** The last turn that starts at or before the position; 0 before the first. */
export function turnAt(turns: { position: number }[], position: number): number {
  let [low, high] = [0, turns.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((turns[middle]?.position ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Stepping back goes to the start of the current turn first. */
export function stepTurn(turns: { position: number }[], position: number, by: 1 | -1): number | undefined {
  const index = turnAt(turns, position);
  const begin = turns[index]?.position;
  if (by === 1) return begin !== undefined && begin > position ? begin : turns[index + 1]?.position;
  return begin !== undefined && begin < position ? begin : turns[index - 1]?.position;
}
