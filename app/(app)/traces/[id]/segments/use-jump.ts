"use client";
import { type RefObject, useCallback, useRef } from "react";
import { isOtherView, type PlacedSegment } from "./list";
import { type Load, loadInto } from "./next-step";
import type { Pending } from "./pending";
import { arriveAt, findCovering, requestFor, type Target } from "./target";

type Props = {
  current: RefObject<PlacedSegment[]>;
  talk: boolean;
  pending: Pending;
  /** @returns whether it failed */
  load: (load: Load) => Promise<boolean>;
  advance: () => void;
  onHidden: () => void;
};

/** Jumps to messages on the page, or loads them, replacing a load in flight. */
export function useJump({ current, talk, pending, load, advance, onHidden }: Props) {
  const target = useRef<Target>(undefined);
  const missed = useRef<Target>(undefined);

  const jump = useCallback(
    async (wanted: Target) => {
      const isOther = isOtherView(current.current, talk);
      // Segments about to be replaced can't be jumped to.
      const covering = pending.isPlaced() && !isOther ? findCovering(current.current, wanted) : undefined;
      if (covering?.markup && arriveAt(wanted, true)) {
        if (!target.current || !pending.isLoading()) return;
        target.current = undefined;
        pending.drop();
        return advance();
      }
      target.current = wanted;
      const place = jumpTo(wanted, isOther ? onHidden : undefined);
      const hasFailed = await load(covering?.markup === null ? loadInto(covering, "jump") : place);
      if (!hasFailed) return;
      missed.current = wanted;
      target.current = undefined;
    },
    [current, talk, pending, load, advance, onHidden],
  );

  return { jump, target, missed };
}

/** Replaces all segments on the page. @param onNone called if there is none */
const jumpTo = (wanted: Target, onNone?: () => void): Load => ({
  place: "jump",
  request: requestFor(wanted),
  isNear: "edge" in wanted || wanted.near,
  toChange: (segment) => {
    if (segment) return { type: "reset", segment };
    onNone?.();
    return { type: "later", segment };
  },
});
