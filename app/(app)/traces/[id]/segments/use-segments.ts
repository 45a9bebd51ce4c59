"use client";
import {
  type RefObject,
  startTransition,
  useCallback,
  useEffect,
  useLayoutEffect,
  useReducer,
  useRef,
  useState,
} from "react";
import { arriveAt, type Target } from "../frame/geometry";
import { makePending } from "./pending";
import type { Segment } from "./render";
import type { Supply } from "./request";
import {
  changeSegments,
  findCovering,
  findNextLoad,
  isOtherView,
  type LoadPlace,
  loadAgain,
  loadTarget,
  type SegmentChange,
  type SegmentEdge,
  type SegmentLoad,
} from "./segment-changes";

type Props = {
  list: RefObject<HTMLElement | null>;
  supply: Supply;
  talk: boolean;
  initial: Segment;
  onHidden: () => void;
};

export function useSegments({ list, supply, talk, initial, onHidden }: Props) {
  const { segments, placed, pending, lastChange, change } = useChanges(initial, talk);
  const current = useRef(segments);
  const { failedPlaces, failed, forget, load } = useLoad({ supply, talk, pending, change, onHidden });
  const near = useRef(new Set<SegmentEdge>());
  const target = useRef<Target>(undefined);
  const missed = useRef<Target>(undefined);

  const advance = useCallback(() => {
    if (!pending.isIdle() || isOtherView(current.current, talk)) return;
    const next = findNextLoad(current.current, near.current, failedPlaces.current);
    if (next) load(next);
  }, [pending, failedPlaces, talk, load]);

  const jump = useCallback(
    async (wanted: Target) => {
      const isOther = isOtherView(current.current, talk);
      // Segments about to be replaced can't be jumped to.
      const covering = pending.isPlaced() && !isOther ? findCovering(current.current, wanted) : undefined;
      if (covering && arriveAt(wanted, true)) {
        if (!target.current || !pending.isLoading()) return;
        target.current = undefined;
        pending.drop();
        return advance();
      }
      target.current = wanted;
      const hasFailed = await load(loadTarget(wanted, isOther ? onHidden : undefined));
      if (!hasFailed) return;
      missed.current = wanted;
      target.current = undefined;
    },
    [talk, pending, load, advance, onHidden],
  );

  /** Reloads the last segment and stays at the end unless the reader left it. */
  const follow = useCallback(
    async (isStill: () => boolean) => {
      const last = current.current.at(-1);
      if (!last || last.later || last.talk !== talk || !pending.isIdle()) return;
      await load(
        loadAgain(last, () => {
          if (isStill()) target.current = { edge: "end" };
        }),
      );
    },
    [load, pending, talk],
  );

  useLayoutEffect(() => {
    current.current = segments;
    pending.place(placed);
    const added = lastChange.current === "earlier" && list.current?.firstElementChild;
    if (added && !anchorsByItself())
      window.scrollBy({ top: added.getBoundingClientRect().height, behavior: "instant" });
    lastChange.current = undefined;
    const wanted = target.current;
    const isThere = wanted && arriveAt(wanted, findCovering(segments, wanted) !== undefined);
    // With no load under way, the target does not exist.
    if (isThere || pending.isIdle()) target.current = undefined;
  }, [segments, placed, pending, lastChange, list]);

  useNearEdges({ near, placed, failed, advance });

  const retry = useCallback(
    (place: LoadPlace) => {
      forget(place);
      if (place === "jump" && missed.current) jump(missed.current);
    },
    [forget, jump],
  );

  return { segments, failed, retry, jump, follow };
}

/** Scroll anchoring, which no browser does at the very top of a page. */
const anchorsByItself = () => CSS.supports("overflow-anchor", "auto") && window.scrollY > 0;

type Placed = { segments: Segment[]; placed: number };

const changePlaced = ({ segments }: Placed, { number, ...change }: SegmentChange & { number: number }): Placed => ({
  segments: changeSegments(segments, change as SegmentChange),
  placed: number,
});

function useChanges(initial: Segment, talk: boolean) {
  const [{ segments, placed }, dispatch] = useReducer(changePlaced, { segments: [{ ...initial, talk }], placed: 0 });
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

const screensAhead = 2;
/** A fast wheel scrolls this far in the second that a busy server needs. */
const minPixelsAhead = 3000;

type NearProps = {
  near: RefObject<Set<SegmentEdge>>;
  placed: number;
  failed: ReadonlySet<LoadPlace>;
  advance: () => void;
};

function useNearEdges({ near, placed, failed, advance }: NearProps) {
  const failedEdges = [...failed].filter((place) => place !== "jump").join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each change and failure, observing again reports the edges that are still near
  useEffect(() => {
    near.current.clear();
    const onCross = (entries: IntersectionObserverEntry[]) => {
      for (const { target, isIntersecting } of entries) {
        const edge = (target as HTMLElement).dataset.edge as SegmentEdge;
        if (isIntersecting) near.current.add(edge);
        else near.current.delete(edge);
      }
      advance();
    };
    const reach = Math.max(window.innerHeight * screensAhead, minPixelsAhead);
    const observer = new IntersectionObserver(onCross, { rootMargin: `${reach}px 0px` });
    for (const edge of document.querySelectorAll("[data-edge]")) observer.observe(edge);
    return () => observer.disconnect();
  }, [placed, failedEdges, near, advance]);
}

type LoadProps = Pick<Props, "supply" | "talk" | "onHidden"> &
  Pick<ReturnType<typeof useChanges>, "pending" | "change">;

const none: ReadonlySet<LoadPlace> = new Set();

function useLoad({ supply, talk, pending, change, onHidden }: LoadProps) {
  // A ref as well, since scrolling reads it between renders.
  const failedPlaces = useRef(none);
  const [failed, setFailed] = useState(none);

  const note = useCallback((places: ReadonlySet<LoadPlace>) => {
    failedPlaces.current = places;
    setFailed(places);
  }, []);

  const forget = useCallback(
    (place: LoadPlace) => note(new Set([...failedPlaces.current].filter((one) => one !== place))),
    [note],
  );

  /** @returns whether it failed and was not replaced */
  const load = useCallback(
    async ({ place, request, isNear, toChange }: SegmentLoad) => {
      const end = pending.begin();
      try {
        const loaded = await supply.segment(request, talk);
        if (!end()) return false;
        note(none);
        if (loaded?.hidden && !isNear) onHidden();
        else change(toChange(loaded && { ...loaded, talk }));
        return false;
      } catch {
        if (!end()) return false;
        note(new Set([...failedPlaces.current, place]));
        return true;
      }
    },
    [supply, talk, pending, change, onHidden, note],
  );

  return { failedPlaces, failed, forget, load };
}
