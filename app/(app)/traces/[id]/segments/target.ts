import { articleAt, articleNear, type Edge, flash, openFoldsRound, scrollToEdge, scrollToRow } from "../frame/geometry";
import { type PlacedSegment, segmentAt } from "./list";
import type { SegmentRequest } from "./request";

/**
 * A message to bring to the top, or an end of the session. `offset` in pixels for another place, `quiet` without
 * focus and mark, `near` accepts the neighbouring row.
 */
export type Target = { position: number; offset?: number; quiet?: boolean; near?: boolean } | { edge: Edge };

const afterAll = 2_147_483_647;

export const requestFor = (wanted: Target): SegmentRequest => {
  if ("position" in wanted) return { at: wanted.position };
  return wanted.edge === "start" ? {} : { before: afterAll };
};

export function findCovering(list: PlacedSegment[], wanted: Target): PlacedSegment | undefined {
  if ("position" in wanted) return segmentAt(list, wanted.position);
  const outer = wanted.edge === "start" ? list[0] : list.at(-1);
  return outer && !(wanted.edge === "start" ? outer.earlier : outer.later) ? outer : undefined;
}

/** @returns whether it is on the page */
export function arriveAt(wanted: Target, isMounted: unknown): boolean {
  if ("edge" in wanted) {
    if (isMounted) scrollToEdge(wanted.edge);
    return Boolean(isMounted);
  }
  const { position, offset, quiet, near } = wanted;
  const row = near && isMounted ? articleNear(position) : articleAt(position);
  if (!row) return false;
  openFoldsRound(row);
  scrollToRow(row, offset);
  if (!quiet) flash(row);
  return true;
}
