import { env } from "#lib/env";
import { SpoorError } from "#lib/errors";
import { declaredLength, readBody, requireJsonType, withBody } from "#lib/http/body";
import { admitted } from "#lib/ingest/accept/admission";
import { acceptBatch, parseEncoding, parseIdempotencyKey } from "#lib/ingest/accept/batch";
import { findFile } from "#lib/ingest/accept/form-file";
import { requireRoom } from "#lib/ingest/quota/quota";
import { maxFormBytes } from "#lib/limits";
import { free } from "#lib/memory";
import { traced } from "#lib/observability/tracing";

/** Accepting, from the last byte of the body to the commit, as a separate span. */
const accept: typeof acceptBatch = (...upload) => traced("ingest.accept", {}, () => acceptBatch(...upload));

/**
 * Accepts the batch in the body of a `POST /api/ingest`. When this returns, it is on disk.
 *
 * @returns its job's id.
 * @throws SpoorError as `requireRoom`, `withBody`, `admitted` and `acceptBatch`; `unsupported_media_type`, `unsupported_encoding`.
 */
export async function receiveBatch(request: Request, sender: { userId: string; machine: string }): Promise<string> {
  requireJsonType(request);
  const encoding = parseEncoding(request.headers.get("content-encoding"));
  const idempotencyKey = parseIdempotencyKey(request.headers.get("idempotency-key"));
  const wireBytes = env().INGEST_MAX_WIRE_BYTES;
  const declared = declaredLength(request, wireBytes);
  await requireRoom(sender.userId, declared ?? 0, idempotencyKey);
  return admitted(sender.userId, declared ?? wireBytes, (room) =>
    withBody(request, wireBytes, (body) => accept(sender, body, encoding, idempotencyKey), room),
  );
}

/**
 * Accepts the batch in the form field `file`, as a browser without JavaScript sends it. A gzipped file is recognized.
 *
 * @returns its job's id.
 * @throws SpoorError as `receiveBatch`; `invalid_request` if there is no such file.
 */
export async function receiveForm(request: Request, sender: { userId: string; machine: string }): Promise<string> {
  const formBytes = maxFormBytes();
  const declared = declaredLength(request, formBytes);
  await requireRoom(sender.userId, declared ?? 0, undefined);
  return admitted(sender.userId, declared ?? formBytes, async (room) => {
    const file = takeFile(await readBody(request, formBytes, room), request.headers.get("content-type") ?? "");
    const isGzip = file[0] === 0x1f && file[1] === 0x8b;
    return accept(sender, file, isGzip ? "gzip" : "identity", undefined);
  });
}

/** Copies the file into memory of its own, which the decoding thread gets. */
function takeFile(form: Buffer<ArrayBuffer>, type: string): Buffer<ArrayBuffer> {
  const file = findFile(form, type);
  if (!file || file.length === 0) throw new SpoorError("invalid_request", "The form has no file.");
  const own = Buffer.allocUnsafeSlow(file.length);
  file.copy(own);
  free(form);
  return own;
}
