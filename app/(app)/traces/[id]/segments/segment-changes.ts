import type { Target } from "../frame/geometry";
import type { Segment } from "./render";
import type { SegmentRequest } from "./request";

export type SegmentChange =
  | { type: "reset"; segment: Segment }
  | { type: SegmentEdge | "again"; segment: Segment | undefined };

export type SegmentEdge = "earlier" | "later";
export type LoadPlace = SegmentEdge | "jump";

export type SegmentLoad = {
  place: LoadPlace;
  request: SegmentRequest;
  isNear?: boolean | undefined;
  toChange: (segment: Segment | undefined) => SegmentChange;
};

/** Without a segment, an edge is the session's end. */
export function changeSegments(list: Segment[], { type, segment }: SegmentChange): Segment[] {
  if (type === "reset") return [segment];
  const last = list.at(-1);
  if (!last) return list;
  switch (type) {
    case "earlier":
      if (segment) return [segment, ...list];
      return list.map((placed, index) => (index === 0 ? { ...placed, earlier: false } : placed));
    case "later":
      return segment ? [...list, segment] : [...list.slice(0, -1), { ...last, later: false }];
    case "again":
      return segment ? [...list.slice(0, -1), { ...segment, before: last.before }] : list;
  }
}

export const isOtherView = ([first]: Segment[], talk: boolean): boolean => first?.talk !== talk;

export function findCovering(list: Segment[], target: Target): Segment | undefined {
  if ("position" in target) return list.find(({ first, last }) => target.position >= first && target.position <= last);
  const outer = target.edge === "start" ? list[0] : list.at(-1);
  return outer && !(target.edge === "start" ? outer.earlier : outer.later) ? outer : undefined;
}

/** @param near the edges that the reader may reach soon */
export function findNextLoad(
  segments: Segment[],
  near: ReadonlySet<SegmentEdge>,
  failed: ReadonlySet<LoadPlace>,
): SegmentLoad | undefined {
  const [first] = segments;
  const last = segments.at(-1);
  const isDue = (edge: SegmentEdge) => near.has(edge) && !failed.has(edge);
  if (first?.earlier && isDue("earlier"))
    return {
      place: "earlier",
      request: { before: first.first },
      toChange: (segment) => ({ type: "earlier", segment }),
    };
  if (last?.later && isDue("later"))
    return { place: "later", request: { after: last.last }, toChange: (segment) => ({ type: "later", segment }) };
  return undefined;
}

export const loadAgain = ({ first }: Segment, onCome: () => void): SegmentLoad => ({
  place: "later",
  request: first > 0 ? { after: first - 1 } : {},
  isNear: true,
  toChange: (segment) => {
    onCome();
    return { type: "again", segment };
  },
});

export const maxPosition = 2_147_483_647;

export const loadTarget = (target: Target, onNone?: () => void): SegmentLoad => ({
  place: "jump",
  request: "position" in target ? { at: target.position } : target.edge === "start" ? {} : { before: maxPosition },
  isNear: "edge" in target || target.near,
  toChange: (segment) => {
    if (segment) return { type: "reset", segment };
    onNone?.();
    return { type: "later", segment };
  },
});
