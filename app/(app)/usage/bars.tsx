/** The inks of the series, by their place; each stands out from the page and from its neighbours in both themes. */
const fills = ["fill-accent", "fill-warn", "fill-thinking", "fill-ok", "fill-subagent", "fill-tool"] as const;

/** The last one is that of all others together. */
export const fillOf = (place: number): string => fills[place] ?? "fill-tool";

/** What a column of a chart shows: the amounts of its parts from the bottom up, and where each part leads to. */
export type Column = {
  label: string;
  total: string;
  texts: string[];
  amounts: number[];
  hrefs: string[];
  unfinished: boolean;
};

/** How much of its place a bar leaves free. */
export const gap = 0.15;

/** The pattern of what is not over yet, laid over a bar. */
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

/** One part of a bar; a line in the page's colour keeps it apart from the next. */
export function Part({ place, unfinished, href, ...box }: PartProps) {
  return (
    <a href={href} tabIndex={-1} className="hover:opacity-80">
      <rect {...box} className={`${fillOf(place)} stroke-1 stroke-page`} />
      {unfinished && <rect {...box} fill="url(#hatch)" />}
    </a>
  );
}

type PartProps = {
  place: number;
  unfinished: boolean;
  href: string;
  x: number | string;
  y: number | string;
  width: number | string;
  height: number | string;
};

/** The bars as a drawing without script: what is seen first, and all there is where no script runs. */
export function Bars({ columns, top }: { columns: Column[]; top: number }) {
  const place = 100 / columns.length;
  return (
    <svg aria-hidden="true" className="absolute inset-0 size-full">
      <HatchPattern />
      {columns.map(({ label, amounts, hrefs, unfinished }, index) => {
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
