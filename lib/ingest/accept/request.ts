import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { maxFormBytes } from "#lib/core/limits";
import { free } from "#lib/core/memory";
import { declaredLength, readBody, requireJsonType, withBody } from "#lib/http/body";
import { admitted } from "#lib/ingest/accept/admission";
import { acceptBatch, parseEncoding, parseIdempotencyKey } from "#lib/ingest/accept/batch";
import { findFile } from "#lib/ingest/accept/form-file";
import { requireRoom } from "#lib/ingest/quota/quota";
import { traced } from "#lib/observability/tracing";

/** From the last byte of the body to the commit. */
const accept: typeof acceptBatch = (...upload) => traced("ingest.accept", {}, () => acceptBatch(...upload));

/**
 * On disk when this returns.
 * @returns the job's id
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

/** From a browser without JavaScript. @returns the job's id */
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

function takeFile(form: Buffer<ArrayBuffer>, type: string): Buffer<ArrayBuffer> {
  const file = findFile(form, type);
  if (!file || file.length === 0) throw new SpoorError("invalid_request", "The form has no file.");
  const own = Buffer.allocUnsafeSlow(file.length);
  file.copy(own);
  free(form);
  return own;
}
