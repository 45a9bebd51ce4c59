import type { Segment } from "./render";
import type { BodyRequest, SegmentRequest } from "./request";

/** The source of the reader's messages: one's own session or a share link. */
export type Supply = {
  page: string;
  /** @returns undefined if there is nothing (any more) */
  segment: (request: SegmentRequest, talk: boolean) => Promise<Segment | undefined>;
  /** The HTML of a fold's body. */
  body: (body: BodyRequest) => Promise<string | undefined>;
};
