"use client";
import { useCallback, useMemo, useRef, useState } from "react";
import type { SegmentChange } from "./list";
import type { Load, ScrollPlace } from "./next-step";
import type { Pending } from "./pending";
import type { Supply } from "./supply";

type Props = {
  supply: Supply;
  talk: boolean;
  pending: Pending;
  change: (change: SegmentChange) => void;
  onHidden: () => void;
};

/** Only the newest load counts. */
export function useLoader({ supply, talk, pending, change, onHidden }: Props) {
  // A ref as well, since scrolling reads it between renders.
  const failedPlace = useRef<ScrollPlace>(undefined);
  const [failed, setFailed] = useState<ScrollPlace>();

  const fail = useCallback((place: ScrollPlace | undefined) => {
    failedPlace.current = place;
    setFailed(place);
  }, []);

  /** @returns whether it failed and was not replaced */
  const load = useCallback(
    async ({ place, request, isNear, toChange }: Load) => {
      const end = pending.begin();
      try {
        const loaded = await supply.segment(request, talk);
        if (!end()) return false;
        const segment = loaded && { ...loaded, talk };
        fail(undefined);
        if (segment?.hidden && !isNear) onHidden();
        else change(toChange(segment));
        return false;
      } catch {
        if (!end()) return false;
        fail(place);
        return true;
      }
    },
    [supply, talk, pending, change, onHidden, fail],
  );

  return useMemo(() => ({ failedPlace, failed, fail, load }), [failed, fail, load]);
}
