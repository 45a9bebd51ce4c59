import type { Segment } from "./render";
import type { BodyRequest, SegmentRequest } from "./request";

/** Where the reader's messages come from: one's own session, or a link to somebody's. */
export type Supply = {
  /** The path of its page. */
  page: string;
  /** @returns undefined where there is nothing (any more) */
  segment: (request: SegmentRequest, talk: boolean) => Promise<Segment | undefined>;
  /** The HTML of a fold's body that was not on the page. */
  body: (body: BodyRequest) => Promise<string | undefined>;
};
