import { z } from "zod";
import type { SearchParams } from "../../../../components/pages";
import type { Segment } from "./render";

const position = z.int().min(0).max(2_147_483_647);

/** After a position, before one or around one; by default from the start. */
export const segmentRequest = z.union([
  z.strictObject({ before: position }),
  z.strictObject({ at: position }),
  z.strictObject({ after: position.optional() }),
]);
export type SegmentRequest = z.output<typeof segmentRequest>;

/** `positions` are all messages of the row. */
export const bodyRequest = z.object({
  position,
  positions: z.array(position).min(1).max(1000),
  part: z.string().max(40).optional(),
});
export type BodyRequest = z.output<typeof bodyRequest>;

export type Supply = {
  page: string;
  /** @returns undefined if there is nothing (any more) */
  segment: (request: SegmentRequest, talk: boolean) => Promise<Segment | undefined>;
  /** The HTML of a fold's body. */
  body: (body: BodyRequest) => Promise<string | undefined>;
};

const inAddress = z
  .string()
  .regex(/^\d{1,10}$/)
  .transform(Number)
  .pipe(position);

/** Falls back to the start. */
export function parseSegmentRequest(query: SearchParams): SegmentRequest {
  for (const name of ["at", "before", "after"] as const) {
    const asked = inAddress.safeParse(query[name]);
    if (asked.success) return { [name]: asked.data } as SegmentRequest;
  }
  return {};
}
