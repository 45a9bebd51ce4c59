const fills = ["fill-accent", "fill-warn", "fill-thinking", "fill-ok", "fill-subagent", "fill-tool"] as const;

/** The last colour is for the sum of the others. */
export const getFill = (place: number): string => fills[place] ?? "fill-tool";

/** Parts are listed from the bottom up. */
export type Column = {
  label: string;
  total: string;
  texts: string[];
  amounts: number[];
  hrefs: string[];
  unfinished: boolean;
};

export function Swatch({ place }: { place: number }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 10 10" className="size-2.5 shrink-0">
      <rect width="10" height="10" rx="2" className={getFill(place)} />
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
