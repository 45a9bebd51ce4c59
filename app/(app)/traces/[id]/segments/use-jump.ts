"use client";
import { type RefObject, useCallback, useRef } from "react";
import type { PlacedSegment } from "./list";
import { type Load, loadInto } from "./next-step";
import type { Pending } from "./pending";
import { arriveAt, coveringOf, requestFor, type Target } from "./target";

type Props = {
  current: RefObject<PlacedSegment[]>;
  pending: Pending;
  /** @returns whether it failed */
  load: (load: Load) => Promise<boolean>;
  advance: () => void;
};

/** Jumps: at once to what is on the page, otherwise with a load, in place of one that is in flight. */
export function useJump({ current, pending, load, advance }: Props) {
  /** Where the reader is taken when it is on the page. */
  const target = useRef<Target>(undefined);
  /** Where a jump failed to lead. */
  const missed = useRef<Target>(undefined);

  const jump = useCallback(
    async (wanted: Target) => {
      // Segments that are about to be replaced can't be arrived at.
      const covering = pending.isPlaced() ? coveringOf(current.current, wanted) : undefined;
      if (covering?.markup && arriveAt(wanted, true)) {
        if (!target.current || !pending.isLoading()) return;
        target.current = undefined;
        pending.drop();
        return advance();
      }
      target.current = wanted;
      const hasFailed = await load(covering?.markup === null ? loadInto(covering, "jump") : jumpTo(wanted));
      if (!hasFailed) return;
      missed.current = wanted;
      target.current = undefined;
    },
    [current, pending, load, advance],
  );

  return { jump, target, missed };
}

/** Loads the segment that has what is wanted, in place of all that are on the page. */
const jumpTo = (wanted: Target): Load => ({
  place: "jump",
  request: requestFor(wanted),
  isNear: "edge" in wanted || wanted.near,
  toChange: (segment) => (segment ? { type: "reset", segment } : { type: "later", segment }),
});
