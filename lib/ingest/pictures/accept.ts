import "server-only";
import { countPixels, findPictureType, type PictureType, pictureTypes } from "#common/evidence/picture-format";
import { holdUsers } from "#lib/auth/sql";
import { sha256 as digest } from "#lib/core/digest";
import { SpoorError } from "#lib/core/errors";
import { limits, maxPictureBytes } from "#lib/core/limits";
import { transaction } from "#lib/db/client";
import { declaredLength, readBody, requireIdentity } from "#lib/http/body";
import { withRoom } from "#lib/ingest/accept/admission";
import { durably } from "#lib/ingest/accept/sql";
import { inTurn, requireRoom, requireRoomStored } from "#lib/ingest/quota/quota";
import { insertPicture, type NewPicture, wantPictures } from "#lib/messages/pictures/sql";
import { makePictureKey } from "#lib/storage/objects";
import { deleteObject, putObject, usesStore } from "#lib/storage/s3";
import { seal } from "#lib/storage/sealed";

/** Keeps the stored ones for another day, even without a trace. */
export async function findMissing(userId: string, hashes: string[]): Promise<string[]> {
  const stored = await wantPictures(userId, hashes);
  return [...new Set(hashes)].filter((hash) => !stored.has(hash));
}

/**
 * On disk when this returns.
 * @returns whether it is new
 * @throws SpoorError `unsupported_media_type`, `unsupported_encoding`, `payload_too_large`, `invalid_request`; as
 * `readBody` and `withRoom`
 */
export async function receivePicture(request: Request, userId: string, sha256: string): Promise<boolean> {
  const mediaType = readType(request.headers.get("content-type"));
  requireIdentity(request);
  const maxBytes = maxPictureBytes();
  const declared = declaredLength(request, maxBytes);
  await requireRoom(userId, declared ?? 0, undefined);
  return withRoom(userId, declared ?? maxBytes, async (room) => {
    const body = await readBody(request, maxBytes, room);
    if (digest(body).toString("hex") !== sha256) throw notAsTold("The body's SHA-256 differs from the path's.");
    requireSize(body, mediaType);
    return inTurn(userId, () => store(userId, { sha256, mediaType }, body));
  });
}

function readType(header: string | null): PictureType {
  const given = header?.split(";", 1)[0]?.trim().toLowerCase();
  const known = pictureTypes.find((type) => type === given);
  if (known) return known;
  throw new SpoorError("unsupported_media_type", `The Content-Type must be one of ${pictureTypes.join(", ")}.`);
}

function requireSize(body: Buffer, mediaType: PictureType): void {
  const pixels = findPictureType(body) === mediaType ? countPixels(body) : undefined;
  if (pixels === undefined) throw notAsTold(`The body is not a valid ${mediaType}.`);
  const { pixels: most } = limits.pictures;
  if (pixels > most) throw new SpoorError("payload_too_large", `The picture exceeds the limit of ${most} pixels.`);
}

const notAsTold = (detail: string) => new SpoorError("invalid_request", detail);

async function store(
  userId: string,
  picture: { sha256: string; mediaType: string },
  body: Buffer<ArrayBuffer>,
): Promise<boolean> {
  const { sha256 } = picture;
  if ((await wantPictures(userId, [sha256])).size > 0) return false;
  const sealed = seal(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  const bytes = body.byteLength;
  if (!usesStore()) return insert(userId, { ...picture, bytes, body: sealed });
  const object = makePictureKey(userId, sha256);
  await putObject(userId, object, sealed);
  const isNew = await insert(userId, { ...picture, bytes, object, objectBytes: sealed.byteLength });
  // After a lost answer the commit may have succeeded, so the sweep (lib/ingest/raw/removal.ts) decides.
  if (!isNew) deleteObject(object).catch(() => {});
  return isNew;
}

function insert(userId: string, picture: NewPicture): Promise<boolean> {
  return transaction(async (tx) => {
    if (!(await holdUsers(tx, [userId], true)).has(userId)) throw new SpoorError("invalid_token");
    const isNew = await insertPicture(tx, userId, picture);
    if (isNew) await requireRoomStored(tx, userId);
    return isNew;
  }, durably);
}
