"use client";
import { startTransition, useCallback, useReducer, useRef, useState } from "react";
import { changeSegments, firstSegments, type PlacedSegment, type SegmentChange } from "./list";
import { makePending } from "./pending";
import type { Segment } from "./render";

type Shown = { segments: PlacedSegment[]; placed: number };

const firstShown = (initial: Segment): Shown => ({ segments: firstSegments(initial), placed: 0 });

const changeShown = ({ segments }: Shown, next: SegmentChange & { number: number }): Shown => ({
  segments: changeSegments(segments, next),
  placed: next.number,
});

export function useShown(initial: Segment, talk: boolean) {
  const [{ segments, placed }, dispatch] = useReducer(changeShown, { ...initial, talk }, firstShown);
  const [pending] = useState(makePending);
  const lastChange = useRef<SegmentChange["type"]>(undefined);
  const change = useCallback(
    (next: SegmentChange) => {
      lastChange.current = next.type;
      const number = pending.change();
      startTransition(() => dispatch({ ...next, number }));
    },
    [pending],
  );
  return { segments, placed, pending, lastChange, change };
}
