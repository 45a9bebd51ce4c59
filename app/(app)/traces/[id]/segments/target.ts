import { articleAt, articleNear, type Edge, flash, openFoldsRound, scrollToEdge, scrollToRow } from "../frame/geometry";
import { type PlacedSegment, segmentAt } from "./list";
import type { SegmentRequest } from "./request";

/**
 * A message to bring to the top; `offset` in pixels for another place, `quiet` without focus and mark, `near` where the row
 * beside it does as well. Or an end of the session.
 */
export type Target = { position: number; offset?: number; quiet?: boolean; near?: boolean } | { edge: Edge };

/** The last segment there is. */
const afterAll = 2_147_483_647;

/** The request for the segment that has what is wanted. */
export const requestFor = (wanted: Target): SegmentRequest => {
  if ("position" in wanted) return { at: wanted.position };
  return wanted.edge === "start" ? {} : { before: afterAll };
};

/** The segment on the page that has what is wanted, whether or not its messages are mounted. */
export function findCovering(list: PlacedSegment[], wanted: Target): PlacedSegment | undefined {
  if ("position" in wanted) return segmentAt(list, wanted.position);
  const outer = wanted.edge === "start" ? list[0] : list.at(-1);
  return outer && !(wanted.edge === "start" ? outer.earlier : outer.later) ? outer : undefined;
}

/** Brings a message to the top, or an end into view. @returns whether it is on the page. @param isMounted whether it has to be */
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
