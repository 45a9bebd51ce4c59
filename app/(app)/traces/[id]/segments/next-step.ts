import { maxMounted, type PlacedSegment, type SegmentChange } from "./list";
import type { Segment } from "./render";
import type { SegmentRequest } from "./request";

/** An edge, a jump, or the key of an empty segment. */
export type ScrollPlace = "earlier" | "later" | "jump" | number;

export type Load = {
  place: ScrollPlace;
  request: SegmentRequest;
  /** Accepts a neighbour if the conversation view leaves out the message. */
  isNear?: boolean | undefined;
  toChange: (segment: Segment | undefined) => SegmentChange;
};

export type SegmentElements = ReadonlyMap<number, HTMLElement>;

/** Screens loaded beyond the visible part. */
const screensAhead = 2;
/** In pixels: a fast wheel scrolls 3,000 a second, and a busy server takes half a second for a segment. */
const minAhead = 3000;

/** Reads the layout. */
export function nextStep(
  segments: PlacedSegment[],
  elements: SegmentElements,
  failed: ScrollPlace | undefined,
): SegmentChange | Load | undefined {
  const [first] = segments;
  const last = segments.at(-1);
  const top = first && elements.get(first.key)?.getBoundingClientRect().top;
  const bottom = last && elements.get(last.key)?.getBoundingClientRect().bottom;
  if (!first || !last || top === undefined || bottom === undefined) return undefined;
  const emptied = farthestMounted(segments, elements);
  if (emptied) return emptied;
  const reach = Math.max(window.innerHeight * screensAhead, minAhead);
  const empty = nearestEmpty(segments, elements, reach);
  if (empty && failed !== empty.key) return loadInto(empty);
  if (first.earlier && top > -reach && failed !== "earlier")
    return {
      place: "earlier",
      request: { before: first.first },
      toChange: (segment) => ({ type: "earlier", segment }),
    };
  if (last.later && bottom < window.innerHeight + reach && failed !== "later")
    return { place: "later", request: { after: last.last }, toChange: (segment) => ({ type: "later", segment }) };
  return undefined;
}

export const loadInto = ({ key, first, last }: PlacedSegment, place: ScrollPlace = key): Load => ({
  place,
  request: { from: first, to: last },
  toChange: (segment) => ({ type: "fill", key, segment }),
});

/** @param onCome called before the page changes */
export const loadAgain = ({ key, first }: PlacedSegment, onCome: () => void): Load => ({
  place: "later",
  request: first > 0 ? { after: first - 1 } : {},
  isNear: true,
  toChange: (segment) => {
    onCome();
    return { type: "again", key, segment };
  },
});

const distance = ({ top, bottom }: DOMRect) => Math.max(top - window.innerHeight, -bottom, 0);

function nearestEmpty(segments: PlacedSegment[], elements: SegmentElements, reach: number): PlacedSegment | undefined {
  let nearest: { segment: PlacedSegment; away: number } | undefined;
  for (const segment of segments) {
    const element = segment.markup === null ? elements.get(segment.key) : undefined;
    if (!element) continue;
    const away = distance(element.getBoundingClientRect());
    if (away <= reach && away < (nearest?.away ?? Number.POSITIVE_INFINITY)) nearest = { segment, away };
  }
  return nearest?.segment;
}

function farthestMounted(segments: PlacedSegment[], elements: SegmentElements): SegmentChange | undefined {
  const mounted = segments.filter(({ markup }) => markup !== null);
  if (mounted.length <= maxMounted) return undefined;
  let farthest: { key: number; height: number; away: number } | undefined;
  for (const { key } of mounted) {
    const rect = elements.get(key)?.getBoundingClientRect();
    const away = rect ? distance(rect) : 0;
    if (rect && away > (farthest?.away ?? 0)) farthest = { key, height: rect.height, away };
  }
  return farthest && { type: "empty", key: farthest.key, height: farthest.height };
}
