"use client";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Outline } from "#lib/transcript/outline";
import { stepTurn, turnAt } from "../outline/turns";
import { useFrame } from "./frame";
import { describePlace, usePlace } from "./where";

const restMs = 150;
/** Large enough for a finger. */
const thumbHeight = 24;

export function Rail() {
  const { outline } = useFrame();
  const known = useSyncExternalStore(outline.subscribe, outline.get, () => undefined);
  return (
    <div className="rail print:hidden">{known && known.span.last > known.span.first && <Slider outline={known} />}</div>
  );
}

function Slider({ outline }: { outline: Outline }) {
  const { top, bottom, zone } = useFrame();
  const strip = useRef<HTMLDivElement>(null);
  const height = useHeight(strip);
  const position = useSyncExternalStore(top.subscribe, top.get, top.get);
  const lowest = useSyncExternalStore(bottom.subscribe, bottom.get, bottom.get);
  const place = usePlace();
  const { dragged, ...drag } = useDrag(strip, outline);
  const onKey = useRailKeys(outline);
  const share = (at: number) => getRailShare(outline.span, at) * height;
  const from = Math.min(share(dragged ?? position), Math.max(0, height - thumbHeight));
  const to = dragged === undefined ? share(lowest) : from + thumbHeight;
  const words = dragged === undefined ? (place ?? "") : describePlace(outline, zone, dragged);
  return (
    <div
      ref={strip}
      role="slider"
      tabIndex={0}
      aria-label="Place in the session"
      aria-orientation="vertical"
      aria-valuemin={outline.span.first}
      aria-valuemax={outline.span.last}
      aria-valuenow={dragged ?? position}
      aria-valuetext={words}
      data-rail=""
      onKeyDown={onKey}
      {...drag}
      className="relative h-full w-full cursor-pointer touch-none"
    >
      <Marks outline={outline} height={height} />
      <span
        aria-hidden="true"
        className="rail-thumb"
        style={{ transform: `translateY(${from}px)`, height: Math.max(thumbHeight, to - from) }}
      />
      {dragged !== undefined && (
        <span aria-hidden="true" className="rail-words" style={{ top: from }}>
          <b>{words}</b>
          <span className="block truncate">{outline.turns[turnAt(outline.turns, dragged)]?.title}</span>
        </span>
      )}
    </div>
  );
}

function Marks({ outline, height }: { outline: Outline; height: number }) {
  if (height === 0) return null;
  const { span, turns, errors, agents, gaps } = outline;
  const path = (places: { position: number }[], left: number, width: number) =>
    railPath(span, places, { height, left, width });
  return (
    <svg aria-hidden="true" width="14" height={height} className="absolute top-0 left-0">
      <path d={path(gaps, 0, 14)} className="stroke-hairline" />
      <path d={path(turns, 0, 5)} className="stroke-accent" />
      <path d={path(agents, 5, 4)} className="stroke-subagent" />
      <path d={path(errors, 9, 5)} className="stroke-bad" />
    </svg>
  );
}

function useHeight(element: React.RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useEffect(() => {
    const strip = element.current;
    if (!strip) return;
    const observer = new ResizeObserver(() => setHeight(Math.floor(strip.clientHeight)));
    observer.observe(strip);
    return () => observer.disconnect();
  }, [element]);
  return height;
}

function useDrag(strip: React.RefObject<HTMLElement | null>, { span }: Outline) {
  const { jump, look, toEdge } = useFrame();
  const [dragged, setDragged] = useState<number>();
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const shareAt = ({ clientY }: React.PointerEvent) => {
    const { top, height } = strip.current?.getBoundingClientRect() ?? { top: 0, height: 1 };
    return Math.min(1, Math.max(0, (clientY - top) / Math.max(1, height)));
  };
  const positionAt = (share: number) => Math.round(span.first + share * (span.last - span.first));
  const move = (event: React.PointerEvent) => {
    const position = positionAt(shareAt(event));
    setDragged(position);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => look(position), restMs);
  };
  return {
    dragged,
    onPointerDown: (event: React.PointerEvent) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      move(event);
    },
    onPointerMove: (event: React.PointerEvent) => {
      if (event.currentTarget.hasPointerCapture(event.pointerId)) move(event);
    },
    onPointerUp: (event: React.PointerEvent) => {
      if (dragged === undefined) return;
      clearTimeout(timer.current);
      setDragged(undefined);
      const share = shareAt(event);
      if (share <= 0.002) toEdge("start");
      else if (share >= 0.998) toEdge("end");
      else jump(positionAt(share), true);
    },
    onPointerCancel: () => {
      clearTimeout(timer.current);
      setDragged(undefined);
    },
  };
}

function useRailKeys(outline: Outline) {
  const { top, look, toEdge } = useFrame();
  return (event: React.KeyboardEvent) => {
    if (event.key === "Home") toEdge("start");
    else if (event.key === "End") toEdge("end");
    else if (/^(?:Arrow|Page)/.test(event.key)) {
      const position = steppedTo(event.key, outline, top.get());
      if (position !== undefined) look(position);
    } else return;
    event.preventDefault();
  };
}

function steppedTo(key: string, { turns, span }: Outline, from: number): number | undefined {
  const isBack = key === "ArrowUp" || key === "ArrowLeft" || key === "PageUp";
  if (key.startsWith("Arrow")) return stepTurn(turns, from, isBack ? -1 : 1);
  const tenth = Math.max(1, Math.round((span.last - span.first) / 10));
  return Math.min(span.last, Math.max(span.first, from + (isBack ? -tenth : tenth)));
}

type PositionSpan = { first: number; last: number };

/** From 0 to 1. */
const getRailShare = ({ first, last }: PositionSpan, position: number): number =>
  last > first ? Math.min(1, Math.max(0, (position - first) / (last - first))) : 0;

function railPath(
  span: PositionSpan,
  places: { position: number }[],
  { height, left, width }: { height: number; left: number; width: number },
): string {
  const rows = new Set(
    places.map(({ position }) => Math.round(getRailShare(span, position) * Math.max(0, height - 1))),
  );
  return [...rows].map((y) => `M${left} ${y + 0.5}h${width}`).join("");
}
