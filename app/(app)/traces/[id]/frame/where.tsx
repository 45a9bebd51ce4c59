"use client";
import { useSyncExternalStore } from "react";
import type { Outline } from "#lib/transcript/outline";
import { formatDate, isoDay } from "../../../../components/values/date-format";
import { formatCount } from "../../../../components/values/figures";
import { turnAt } from "../outline/turns";
import { useFrame } from "./frame";
import { articleAt } from "./geometry";
import { afterAll } from "./use-scrolling";

export function useCurrent(outline: Outline | undefined): number {
  const { top, bottom } = useFrame();
  const position = useSyncExternalStore(top.subscribe, top.get, top.get);
  const isEnd = useSyncExternalStore(bottom.subscribe, bottom.get, bottom.get) === afterAll;
  return isEnd && outline ? outline.span.last : position;
}

export function usePlace(): string | undefined {
  const { outline, zone } = useFrame();
  const known = useSyncExternalStore(outline.subscribe, outline.get, () => undefined);
  const position = useCurrent(known);
  return known && describePlace(known, zone, position, timeAt(position));
}

export function describePlace({ turns, span }: Outline, zone: string, position: number, at?: Date): string {
  const index = turnAt(turns, position);
  const turn = turns[index];
  const when = at ?? (turn?.at ? new Date(turn.at * 1000) : undefined);
  const isBefore = !turn || position < turn.position;
  const place = isBefore
    ? turn
      ? "Start"
      : `${formatCount(span.last === span.first ? 100 : Math.round(((position - span.first) / (span.last - span.first)) * 100))} %`
    : `turn ${formatCount(index + 1)} of ${formatCount(turns.length)}`;
  return when ? `${place} · ${formatMoment(when, turns, zone)}` : place;
}

const timeAt = (position: number): Date | undefined => {
  const at = typeof document === "undefined" ? undefined : articleAt(position)?.querySelector("time")?.dateTime;
  return at ? new Date(at) : undefined;
};

function formatMoment(when: Date, turns: Outline["turns"], zone: string): string {
  const toDay = (at: number | null | undefined) => at && isoDay(new Date(at * 1000), zone);
  const isLong = toDay(turns[0]?.at) !== toDay(turns.at(-1)?.at);
  const day = isLong ? ({ day: "numeric", month: "short" } as const) : {};
  return formatDate(when, zone, { ...day, hour: "2-digit", minute: "2-digit" });
}

type Props = { first: number; total: number };

export function Where({ first, total }: Props) {
  const place = usePlace();
  const start = total > 0 ? `message ${formatCount(first)} of ${formatCount(total)}` : "";
  return (
    <span
      data-where=""
      title={`${formatCount(total)} messages`}
      className="shrink-0 whitespace-nowrap text-code text-muted tabular-nums"
    >
      {place ?? start}
    </span>
  );
}
