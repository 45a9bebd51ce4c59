type PositionSpan = { first: number; last: number };

/** Which part of a session comes before a position, from 0 to 1. */
export const getRailShare = ({ first, last }: PositionSpan, position: number): number =>
  last > first ? Math.min(1, Math.max(0, (position - first) / (last - first))) : 0;

/**
 * The path of a rail's marks: a short horizontal line at each place, at most one a pixel, so that it is as long as the rail is
 * high at most.
 */
export function railPath(
  span: PositionSpan,
  places: { position: number }[],
  { height, left, width }: { height: number; left: number; width: number },
): string {
  const rows = new Set(
    places.map(({ position }) => Math.round(getRailShare(span, position) * Math.max(0, height - 1))),
  );
  return [...rows].map((y) => `M${left} ${y + 0.5}h${width}`).join("");
}
