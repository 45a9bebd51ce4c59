import { z } from "zod";
import type { SearchParams } from "../../../../components/shell/pages";
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
  segment: (request: SegmentRequest, talk: boolean) => Promise<Segment | undefined>;
  body: (body: BodyRequest) => Promise<string | undefined>;
};

const inAddress = z
  .string()
  .regex(/^\d{1,10}$/)
  .transform(Number)
  .pipe(position);

export function parseSegmentRequest(query: SearchParams): SegmentRequest {
  for (const name of ["at", "before", "after"] as const) {
    const asked = inAddress.safeParse(query[name]);
    if (asked.success) return { [name]: asked.data } as SegmentRequest;
  }
  return {};
}
