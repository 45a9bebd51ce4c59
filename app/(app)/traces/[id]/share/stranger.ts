import "server-only";
import type { Sharing } from "#lib/masking/for-others";
import type { SegmentSession } from "../segments/render";

export const toStranger = (
  userId: string,
  traceId: string,
  { masked, pictures = false, ...range }: Sharing,
): SegmentSession => ({
  userId,
  traceId,
  whose: { sharedAt: `/traces/${traceId}/share`, pictures: `/api/traces/${traceId}/pictures` },
  range,
  masked,
  pictures,
});
