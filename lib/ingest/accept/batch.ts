import "server-only";
import { v7 as uuid } from "uuid";
import { env } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { countValues } from "#lib/core/json";
import { prisma } from "#lib/db/client";
import { storeLarge, storeRepeated } from "#lib/ingest/accept/large-upload";
import { findSameUpload, turnOfBytes } from "#lib/ingest/accept/same-bytes";
import { storeSmall } from "#lib/ingest/accept/small-uploads";
import type { NewUpload, Sender } from "#lib/ingest/accept/sql";
import { type Encoding, encodings, inflate } from "#lib/ingest/decode/inflate";
import type { Received } from "#lib/ingest/decode/operations";
import { type Decoder, decodeHere, smallBytes, withThread } from "#lib/ingest/decode/thread-pool";
import { hasQuota } from "#lib/ingest/quota/quota";
import { idempotencyKey as idempotencyKeySchema } from "#lib/ingest/schema";
import { readPolicy } from "#lib/masking/policy";
import { countUpload } from "#lib/observability/counters";
import { discardBody, placeBody } from "#lib/storage/objects";
import { usesStore } from "#lib/storage/s3";

export function parseEncoding(header: string | null): Encoding {
  const name = header?.trim().toLowerCase() || "identity";
  const encoding = encodings.find((known) => known === name || (known === "gzip" && name === "x-gzip"));
  if (!encoding) {
    throw new SpoorError("unsupported_encoding", "Content-Encoding must be gzip, br, zstd or absent.");
  }
  return encoding;
}

export function parseIdempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined;
  const parsed = idempotencyKeySchema.safeParse(header);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new SpoorError("invalid_request", `Idempotency-Key ${issue?.message}.`);
}

/**
 * The batch is on disk when this returns.
 * @param body may be transferred to the decoding thread
 * @returns the job's id, which is the earlier one for a repeated idempotency key
 */
export async function acceptBatch(
  sender: Sender,
  body: Buffer,
  encoding: Encoding,
  idempotencyKey: string | undefined,
): Promise<string> {
  const upload = { ...sender, jobId: uuid(), idempotencyKey };
  const small = inflateSmall(body, encoding);
  const { received, storing } = await (small ? readSmall(upload, small) : readLarge(upload, body, encoding));
  if (!(await storing)) return findEarlierJob(sender.userId, idempotencyKey ?? "", received);
  countUpload(received.bytes);
  return upload.jobId;
}

type UnreadUpload = Omit<NewUpload, keyof Received>;
type AcceptedRead = { received: Received; storing: Promise<boolean> };

function inFlight(received: Received, storing: Promise<boolean>): AcceptedRead {
  storing.catch(() => {}); // rejections are handled where it is awaited
  return { received, storing };
}

async function readSmall(upload: UnreadUpload, body: Uint8Array): Promise<AcceptedRead> {
  const policy = await readPolicy(upload.userId, upload.machine);
  const input = { body, encoding: "identity" as const, maxBytes: env().INGEST_MAX_BYTES, policy };
  const received = await decodeHere().call("judge", input);
  return inFlight(received, storeSmall({ ...upload, ...received }));
}

function readLarge(upload: UnreadUpload, body: Buffer, encoding: Encoding): Promise<AcceptedRead> {
  const input = { body, encoding, maxBytes: env().INGEST_MAX_BYTES };
  const moved = transferable(body);
  return withThread(upload.userId, async (thread) => {
    try {
      const received = await thread.call("receive", input, moved);
      const whole = { ...upload, ...received };
      const endTurn = await turnOfBytes(whole);
      const storing = storeReceived(whole, thread);
      storing.stored.then(endTurn, endTurn);
      await storing.read;
      return inFlight(received, storing.stored);
    } finally {
      if (!thread.broken) await thread.call("close", undefined);
    }
  });
}

function storeReceived(upload: NewUpload, thread: Decoder): { read: Promise<unknown>; stored: Promise<boolean> } {
  const read = Promise.withResolvers<unknown>();
  const stored = (async () => {
    const policy = await readPolicy(upload.userId, upload.machine);
    const repeated = await findSameUpload(upload, policy);
    // A quota counts what is stored by now.
    if (repeated && !hasQuota()) return storeRepeated(upload, repeated);
    const reading = thread.call("read", { policy });
    // `stored` reports an error; the thread must not be reused earlier.
    read.resolve(Promise.allSettled([reading]));
    const whole = { ...upload, ...(await reading) };
    if (repeated && !whole.isMasked) return storeLarge(whole, repeated.holder);
    if (!usesStore()) return storeLarge(whole);
    const placed = await placeBody(upload, whole.stored);
    const isStored = await storeLarge({ ...whole, ...placed });
    if (!isStored) discardBody(placed);
    return isStored;
  })();
  stored.then(read.resolve, read.resolve);
  return { read: read.promise, stored };
}

/** Refusing 64 KiB of `{}` takes 70 ms of the event loop. */
const maxValuesHere = 2000;
/** 1,024 zstd frames take 40 ms. */
const maxFramesHere = 8;

/** @returns undefined for a body that goes to a thread */
function inflateSmall(body: Uint8Array, encoding: Encoding): Uint8Array | undefined {
  if (body.byteLength > smallBytes) return undefined;
  try {
    const decoded = inflate(body, encoding, smallBytes, { maxFrames: maxFramesHere });
    return countValues(decoded) > maxValuesHere ? undefined : decoded;
  } catch (error) {
    if (error instanceof SpoorError && error.code === "payload_too_large") return undefined;
    throw error;
  }
}

function transferable({ buffer, byteLength }: Buffer): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

async function findEarlierJob(userId: string, idempotencyKey: string, { sha256 }: Received): Promise<string> {
  const job = await prisma().ingestJob.findUnique({
    where: { userId_idempotencyKey: { userId, idempotencyKey } },
    select: { id: true, bodySha256: true },
  });
  if (!job) throw new SpoorError("unavailable", "The earlier request with this key was just removed. Send it again.");
  if (Buffer.compare(job.bodySha256, sha256) !== 0) {
    throw new SpoorError("idempotency_key_reused");
  }
  return job.id;
}
