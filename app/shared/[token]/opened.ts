import "server-only";
import { headers } from "next/headers";
import { cache } from "react";
import { readOrigin } from "#lib/auth/audit";
import { type OpenedShare, openShare } from "#lib/shares/shares";
import type { SegmentSession } from "../../(app)/traces/[id]/segments/render";

/** One request counts as one visit. */
export const openedBy = cache(async (token: string) => openShare(token, readOrigin(await headers()).address));

export const toReaders = (
  { userId, traceId, shown: { masked, pictures = false, ...range } }: OpenedShare,
  token: string,
): SegmentSession => ({
  userId,
  traceId,
  whose: { sharedAt: `/shared/${token}`, pictures: `/api/shared/${token}/pictures` },
  range,
  masked,
  pictures,
});
