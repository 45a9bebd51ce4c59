import { endpoint, route } from "#lib/api/route";
import { findMissing } from "#lib/ingest/pictures/accept";
import { findMissingPictures } from "#lib/ingest/pictures/api";
import { limits } from "#lib/limits";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  POST: endpoint(findMissingPictures, async ({ caller, body }) => ({
    ok: true as const,
    missing: await findMissing(caller.userId, body.hashes),
    maxBytes: limits.pictures.bytes,
  })),
});
