import type { Circumstances } from "#lib/traces/usage";
import { formatCompact } from "../../../../components/values/figures";

const [width, height] = [160, 24];

export function ContextChart({ context, isLarge }: { context: Circumstances["context"]; isLarge?: boolean }) {
  if (context.length < 2) return null;
  const most = Math.max(...context.map(({ tokens }) => tokens));
  const last = context.at(-1)?.tokens ?? 0;
  const points = context.map(({ tokens }, index) => {
    const x = (index / (context.length - 1)) * width;
    return `${round(x)} ${round(height - (tokens / most) * (height - 2))}`;
  });
  const line = `M${points.join("L")}`;
  const words = `Context at most ${formatCompact(most)} tokens, ${formatCompact(last)} at the end`;
  return (
    <span className="inline-flex items-center gap-2" title={words}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
        className={`context-chart ${isLarge ? "h-16 w-full max-w-96" : "h-4 w-24"}`}
      >
        <path d={`${line}L${width} ${height}L0 ${height}Z`} className="area" />
        <path d={line} className="line" />
      </svg>
      {!isLarge && (
        <span>
          {formatCompact(most)} <span className="text-muted">context</span>
        </span>
      )}
    </span>
  );
}

const round = (value: number) => Math.round(value * 10) / 10;
