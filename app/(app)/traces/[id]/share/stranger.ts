import "server-only";
import type { Sharing } from "#lib/traces/shares";
import type { Shown } from "../segments/render";

/** A session as somebody sees it who was given a link. */
export const toStranger = (userId: string, traceId: string, { masked, ...range }: Sharing): Shown => ({
  userId,
  traceId,
  whose: { sharedAt: `/traces/${traceId}/share` },
  range,
  masked,
});
