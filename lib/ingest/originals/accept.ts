// Exact copies (docs/originals.md) are encrypted by the client, so they are not sealed again.
import "server-only";
import type { z } from "zod";
import { holdUsers } from "#lib/auth/sql";
import { sha256 as digest } from "#lib/core/digest";
import { SpoorError } from "#lib/core/errors";
import { fieldErrors } from "#lib/core/fields";
import { parseJson } from "#lib/core/json";
import { limits, maxPartBytes } from "#lib/core/limits";
import { transaction } from "#lib/db/client";
import { declaredLength, readBody, requireIdentity, requireJsonType } from "#lib/http/body";
import { overLimit } from "#lib/http/rate-limit";
import { withRoom } from "#lib/ingest/accept/admission";
import { durably } from "#lib/ingest/accept/sql";
import { inTurn, requireRoom, requireRoomStored } from "#lib/ingest/quota/quota";
import { countManifest, countPart } from "#lib/observability/counters";
import { originalRequest } from "#lib/originals/schema";
import {
  insertPart,
  type NewOriginal,
  type NewPart,
  type OriginalKey,
  touchPart,
  type Written,
  writeOriginal,
} from "#lib/originals/sql";
import { makePartKey } from "#lib/storage/objects";
import { deleteObject, putObject, usesStore } from "#lib/storage/s3";

const { headBytes, manifestBytes, manifestsPerMinutePerUser } = limits.originals;

/** The first line of the format; only the recipient can read the rest. */
const ageMark = Buffer.from("age-encryption.org/v1\n");
const isAgeFile = (bytes: Buffer) => ageMark.compare(bytes, 0, Math.min(ageMark.length, bytes.length)) === 0;

/**
 * On disk when this returns.
 *
 * @returns whether it is new
 * @throws SpoorError `unsupported_media_type`, `unsupported_encoding`, `payload_too_large`, `invalid_part`; as `readBody` and
 * `withRoom`
 */
export async function receivePart(request: Request, userId: string, sha256: string): Promise<boolean> {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/octet-stream")
    throw new SpoorError("unsupported_media_type", "The Content-Type must be application/octet-stream.");
  requireIdentity(request);
  const maxBytes = maxPartBytes();
  const declared = declaredLength(request, maxBytes);
  await requireRoom(userId, declared ?? 0, undefined);
  return withRoom(userId, declared ?? maxBytes, async (room) => {
    const body = await readBody(request, maxBytes, room);
    if (digest(body).toString("hex") !== sha256) throw new SpoorError("invalid_part");
    if (!isAgeFile(body)) throw new SpoorError("invalid_part", "The body is not an age file.");
    return inTurn(userId, () => storePart(userId, sha256, body));
  });
}

async function storePart(userId: string, sha256: string, body: Buffer<ArrayBuffer>): Promise<boolean> {
  if (await touchPart(userId, sha256)) return false;
  const bytes = body.byteLength;
  if (!usesStore()) return insert(userId, { sha256, bytes, body });
  const object = makePartKey(userId, sha256);
  await putObject(userId, object, body);
  const isNew = await insert(userId, { sha256, bytes, object });
  // After a lost answer the commit may have succeeded, so the sweep (lib/ingest/raw/removal.ts) decides.
  if (!isNew) deleteObject(object).catch(() => {});
  return isNew;
}

async function insert(userId: string, part: NewPart): Promise<boolean> {
  const isNew = await transaction(async (tx) => {
    if (!(await holdUsers(tx, [userId], true)).has(userId)) throw new SpoorError("invalid_token");
    const isInserted = await insertPart(tx, userId, part);
    if (isInserted) await requireRoomStored(tx, userId);
    return isInserted;
  }, durably);
  if (isNew) countPart(part.bytes);
  return isNew;
}

type Sender = { userId: string; machine: string };

/**
 * On disk when this returns.
 *
 * @param seen the version that it replaces; undefined for none
 * @throws SpoorError `rate_limited`, `session_deleted`, `precondition_failed`, `parts_missing`, `invalid_request`; as
 * `readBody` and `withRoom`
 */
export async function receiveOriginal(
  request: Request,
  { userId, machine }: Sender,
  key: OriginalKey,
  seen: string | undefined,
): Promise<{ version: string; isNew: boolean }> {
  requireJsonType(request);
  requireIdentity(request);
  const wait = await overLimit("original", userId, { points: manifestsPerMinutePerUser, seconds: 60 });
  if (wait) throw new SpoorError("rate_limited", undefined, { retryAfterSeconds: wait });
  const declared = declaredLength(request, manifestBytes);
  await requireRoom(userId, declared ?? 0, undefined);
  return withRoom(userId, declared ?? manifestBytes, async (room) => {
    const { head, ...sent } = readManifest(await readBody(request, manifestBytes, room));
    return inTurn(userId, () => storeOriginal(userId, { ...sent, ...key, head, machine }, seen));
  });
}

function readManifest(body: Buffer): Omit<z.output<typeof originalRequest>, "head"> & { head: Buffer } {
  const parsed = originalRequest.safeParse(parseJson(body));
  if (!parsed.success) throw new SpoorError("invalid_request", undefined, { errors: fieldErrors(parsed.error) });
  const head = Buffer.from(parsed.data.head, "base64");
  const wrong = head.length > headBytes ? `must have at most ${headBytes} bytes` : "must be an age file in base64";
  if (head.length > headBytes || !isAgeFile(head))
    throw new SpoorError("invalid_request", undefined, { errors: [{ path: "head", message: wrong }] });
  return { ...parsed.data, head };
}

async function storeOriginal(userId: string, original: NewOriginal, seen: string | undefined) {
  const replaced = seen === undefined ? undefined : Number(seen);
  const written = await transaction(async (tx) => {
    if (!(await holdUsers(tx, [userId], true)).has(userId)) throw new SpoorError("invalid_token");
    const result = await writeOriginal(tx, userId, original, replaced);
    if (typeof result === "object" && "version" in result) await requireRoomStored(tx, userId);
    return result;
  }, durably);
  return tellWritten(written);
}

function tellWritten(written: Written): { version: string; isNew: boolean } {
  if (written === "deleted") throw new SpoorError("session_deleted");
  if (written === "changed") throw new SpoorError("precondition_failed");
  if ("missing" in written) throw new SpoorError("parts_missing", undefined, { missing: written.missing });
  countManifest();
  return { version: String(written.version), isNew: written.isNew };
}
