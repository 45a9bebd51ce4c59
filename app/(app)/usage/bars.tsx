/** The colours of the series, by index; each contrasts with the page and its neighbours in both themes. */
const fills = ["fill-accent", "fill-warn", "fill-thinking", "fill-ok", "fill-subagent", "fill-tool"] as const;

/** The last colour is that of the sum of the others. */
export const fillOf = (place: number): string => fills[place] ?? "fill-tool";

/** A column of a chart: the amounts of its parts from the bottom up, and the link of each part. */
export type Column = {
  label: string;
  total: string;
  texts: string[];
  amounts: number[];
  hrefs: string[];
  unfinished: boolean;
};

/** The share of its slot that a bar leaves free. */
export const gap = 0.15;

/** The pattern over the bar of a day or week that is not over yet. */
export function HatchPattern() {
  return (
    <defs>
      <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="2.5" height="6" className="fill-page" />
      </pattern>
    </defs>
  );
}

export function Swatch({ place }: { place: number }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 10 10" className="size-2.5 shrink-0">
      <rect width="10" height="10" rx="2" className={fillOf(place)} />
    </svg>
  );
}

export function Hatch() {
  return (
    <svg aria-hidden="true" viewBox="0 0 10 10" className="size-2.5 shrink-0 stroke-2 stroke-muted">
      <path d="M0 7L7 0M3 10L10 3" />
    </svg>
  );
}

/** One part of a bar; a line in the page's colour separates it from the next. */
export function Part({ place, unfinished, href, label, ...box }: PartProps) {
  return (
    <a href={href} aria-label={label} tabIndex={-1} className="hover:opacity-80">
      <rect {...box} className={`${fillOf(place)} stroke-1 stroke-page`} />
      {unfinished && <rect {...box} fill="url(#hatch)" />}
    </a>
  );
}

type PartProps = {
  place: number;
  unfinished: boolean;
  href: string;
  label: string;
  x: number | string;
  y: number | string;
  width: number | string;
  height: number | string;
};

/** The bars as a static SVG: the first paint, and all there is without script. */
export function Bars({ columns, top }: { columns: Column[]; top: number }) {
  const place = 100 / columns.length;
  return (
    <svg aria-hidden="true" className="absolute inset-0 size-full">
      <HatchPattern />
      {columns.map(({ label, amounts, texts, hrefs, unfinished }, index) => {
        let below = 0;
        return amounts.map((amount, part) => {
          if (amount === 0) return null;
          below += amount;
          return (
            <Part
              // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
              key={`${label} ${part}`}
              place={part}
              unfinished={unfinished}
              href={hrefs[part] ?? ""}
              label={`${label}: ${texts[part]}`}
              x={`${place * (index + gap / 2)}%`}
              width={`${place * (1 - gap)}%`}
              y={`${100 - (100 * below) / top}%`}
              height={`${(100 * amount) / top}%`}
            />
          );
        });
      })}
    </svg>
  );
}
