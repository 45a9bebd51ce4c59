import { formatShare, getShareInk } from "./shares";

const bar = { width: 3, gap: 1, height: 20 };

export function Sparkline({ trend }: { trend: (number | null)[] }) {
  const known = trend.filter((share) => share !== null);
  const highest = known.reduce((max, share) => Math.max(max, share), 0);
  // At least 5%, so that one entry in a thousand does not look like a disaster.
  const scale = Math.max(highest, 0.05);
  const label = `Worst of each day: ${formatShare(known[0] ?? 0)} at first, ${formatShare(known.at(-1) ?? 0)} at last, at most ${formatShare(highest)}`;
  const step = bar.width + bar.gap;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${trend.length * step - bar.gap} ${bar.height}`}
      className="h-5 w-30 shrink-0 fill-current"
    >
      {trend.map((share, daysBefore) => {
        if (share === null) return null;
        const height = Math.max(1.5, (share / scale) * bar.height);
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a place in the trend is a day
            key={daysBefore}
            x={daysBefore * step}
            y={bar.height - height}
            width={bar.width}
            height={height}
            className={getShareInk(share)}
          />
        );
      })}
    </svg>
  );
}
