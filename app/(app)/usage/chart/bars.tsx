import { getAgentColor } from "../../../components/values/agent-icon";

const fills = ["fill-chart-1", "fill-chart-2", "fill-chart-3", "fill-chart-4", "fill-chart-5"] as const;

/**
 * The last colour is for the sum of the others.
 *
 * @param agent has its own colour
 */
export const getFill = (place: number, agent?: string): string =>
  agent === undefined ? (fills[place] ?? "fill-chart-6") : `fill-(--agent) ${getAgentColor(agent)}`;

/** Parts are listed from the bottom up. */
export type Column = {
  label: string;
  total: string;
  texts: string[];
  amounts: number[];
  hrefs: string[];
  unfinished: boolean;
};

export function Swatch({ fill }: { fill: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 10 10" className="size-2.5 shrink-0">
      <rect width="10" height="10" rx="2" className={fill} />
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
