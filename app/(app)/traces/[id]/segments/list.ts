import type { Markup, Segment } from "./render";

/** A segment without markup is a space of its messages' measured height. */
export type PlacedSegment = Omit<Segment, "markup"> & { key: number; markup: Markup | null; height: number };

export type SegmentChange =
  | { type: "reset"; segment: Segment }
  | { type: "earlier"; segment: Segment | undefined }
  | { type: "later"; segment: Segment | undefined }
  | { type: "again"; key: number; segment: Segment | undefined }
  | { type: "fill"; key: number; segment: Segment | undefined }
  | { type: "empty"; key: number; height: number };

export const maxMounted = 12;

export const firstSegments = (segment: Segment): PlacedSegment[] => [place(segment)];

/** Segments begin at different messages. A counter would differ between server and browser. */
const place = (segment: Segment): PlacedSegment => ({ ...segment, key: segment.first, height: 0 });

export function changeSegments(list: PlacedSegment[], change: SegmentChange): PlacedSegment[] {
  switch (change.type) {
    case "reset":
      return firstSegments(change.segment);
    case "earlier":
      if (change.segment) return [place(change.segment), ...list];
      return list.map((placed, index) => (index === 0 ? { ...placed, earlier: false } : placed));
    case "later":
      if (change.segment) return [...list, place(change.segment)];
      return list.map((placed, index) => (index === list.length - 1 ? { ...placed, later: false } : placed));
    case "again":
      if (!change.segment) return list;
      return replace(list, change.key, { ...change.segment, before: list.at(-1)?.before ?? 0 });
    case "fill":
      return replace(list, change.key, { markup: change.segment?.markup ?? { __html: "" } });
    case "empty":
      return replace(list, change.key, { markup: null, height: change.height, handedOver: undefined });
  }
}

const replace = (list: PlacedSegment[], key: number, fields: Partial<PlacedSegment>) =>
  list.map((placed) => (placed.key === key ? { ...placed, ...fields } : placed));

/** The page still shows the previous view, so nothing can be added to it. */
export const isOtherView = ([first]: PlacedSegment[], talk: boolean): boolean => first?.talk !== talk;

export const segmentAt = (list: PlacedSegment[], position: number): PlacedSegment | undefined =>
  list.find(({ first, last }) => position >= first && position <= last);

/** Counts from 1, as in "412–640". */
export function loadedSpan(list: PlacedSegment[]): { from: number; to: number } {
  const [first] = list;
  const last = list.at(-1);
  return { from: (first?.before ?? 0) + 1, to: (last?.before ?? 0) + (last?.count ?? 0) };
}
