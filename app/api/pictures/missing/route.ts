import { endpoint, route } from "#lib/api/route";
import { maxPictureBytes } from "#lib/core/limits";
import { findMissing } from "#lib/ingest/pictures/accept";
import { findMissingPictures } from "#lib/ingest/pictures/api";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(findMissingPictures, async ({ caller, body }) => ({
    ok: true as const,
    missing: await findMissing(caller.userId, body.hashes),
    maxBytes: maxPictureBytes(),
  })),
});
