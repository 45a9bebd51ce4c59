"use client";
import { useCallback, useMemo, useRef, useState } from "react";
import type { SegmentChange } from "./list";
import type { Load, Place } from "./next-step";
import type { Supply } from "./supply";

type Props = {
  supply: Supply;
  talk: boolean;
  change: (change: SegmentChange) => void;
  /** Called where a message was jumped to that Talk leaves out. */
  onHidden: () => void;
};

/** What is in flight and what failed; in a ref, since scrolling asks for it between renders. */
type Loading = { busy: boolean; failed: Place | undefined; jumps: number };

/** Loads segments one at a time. What was asked for before a jump is dropped when it comes after it. */
export function useLoader({ supply, talk, change, onHidden }: Props) {
  const loading = useRef<Loading>({ busy: false, failed: undefined, jumps: 0 });
  const [failed, setFailed] = useState<Place>();

  const fail = useCallback((place: Place | undefined) => {
    loading.current.failed = place;
    setFailed(place);
  }, []);

  const load = useCallback(
    async ({ place, request, isNear, toChange }: Load) => {
      if (place === "jump") loading.current.jumps += 1;
      const { jumps } = loading.current;
      loading.current.busy = true;
      try {
        const segment = await supply.segment(request, talk);
        if (jumps !== loading.current.jumps) return;
        fail(undefined);
        if (segment?.hidden && !isNear) onHidden();
        else change(toChange(segment));
      } catch {
        if (jumps !== loading.current.jumps) return;
        loading.current.busy = false;
        fail(place);
      }
    },
    [supply, talk, change, onHidden, fail],
  );

  return useMemo(() => ({ loading, failed, fail, load }), [failed, fail, load]);
}
