type PositionSpan = { first: number; last: number };

/** From 0 to 1. */
export const getRailShare = ({ first, last }: PositionSpan, position: number): number =>
  last > first ? Math.min(1, Math.max(0, (position - first) / (last - first))) : 0;

/** Draws at most one line per pixel, so that the path stays short. */
export function railPath(
  span: PositionSpan,
  places: { position: number }[],
  { height, left, width }: { height: number; left: number; width: number },
): string {
  const rows = new Set(places.map(({ position }) => Math.round(getRailShare(span, position) * Math.max(0, height - 1))));
  return [...rows].map((y) => `M${left} ${y + 0.5}h${width}`).join("");
}
