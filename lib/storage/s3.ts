// Every call is bounded in time, and a process makes few at the same time.
import "server-only";
import type { S3Client } from "@aws-sdk/client-s3";
import { FairQueue } from "#lib/core/concurrency/fair-queue";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { env } from "#lib/core/env";
import { EnvError, StoreOutageError } from "#lib/core/errors";
import { log } from "#lib/core/log";

type Sdk = typeof import("@aws-sdk/client-s3");
type OpenStore = { sdk: Sdk; client: S3Client; bucket: string };

/**
 * A call also gets the time that its bytes need at the slowest pace. An unreachable store is noticed within two
 * seconds.
 */
const bounds = { callsAtOnce: 16, attempts: 3, connectSeconds: 2, callSeconds: 10, minBytesPerSecond: 2 ** 20 };

/** A configured store that takes no new bodies is still read and emptied. */
export const usesStore = () => env().UPLOAD_STORE === "s3";
export const hasStore = () => env().UPLOAD_S3_BUCKET !== undefined;

const stores = oncePerProcess("stores", () => new Map<string, Promise<OpenStore>>());

function open(): Promise<OpenStore> {
  const settings = readSettings();
  const key = JSON.stringify(settings);
  const store = stores.get(key) ?? connect(settings);
  stores.set(key, store);
  return store;
}

function readSettings() {
  const { UPLOAD_S3_BUCKET: bucket, UPLOAD_S3_REGION: region, UPLOAD_S3_ENDPOINT: endpoint, ...keys } = env();
  if (!bucket) throw new EnvError("An upload is stored in S3, but UPLOAD_S3_BUCKET is not set.");
  return { bucket, region, endpoint, keyId: keys.UPLOAD_S3_ACCESS_KEY_ID, key: keys.UPLOAD_S3_SECRET_ACCESS_KEY };
}

async function connect({ bucket, region, endpoint, keyId, key }: ReturnType<typeof readSettings>): Promise<OpenStore> {
  const sdk = await import("@aws-sdk/client-s3");
  const client = new sdk.S3Client({
    region,
    // Without configured keys, the SDK finds those of the machine.
    ...(keyId && key && { credentials: { accessKeyId: keyId, secretAccessKey: key } }),
    // Only AWS has a host name for each bucket.
    ...(endpoint && { endpoint, forcePathStyle: true }),
    maxAttempts: bounds.attempts,
    // Older stores know no checksums but MD5.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: bounds.connectSeconds * 1000, httpsAgent: agent, httpAgent: agent },
  });
  return { sdk, client, bucket };
}

const agent = { keepAlive: true, maxSockets: bounds.callsAtOnce * 2 };

const turns = new FairQueue(bounds.callsAtOnce);

/**
 * @param userId users share the concurrent calls
 * @param bytes more bytes get more time
 * @returns undefined for a missing object
 * @throws StoreOutageError for any reason, which only the log has
 */
async function call<T>(
  userId: string,
  bytes: number,
  run: (store: OpenStore, abortSignal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const seconds = bounds.callSeconds + bytes / bounds.minBytesPerSecond;
  const signal = AbortSignal.timeout(Math.ceil(seconds * 1000));
  let release: (() => void) | undefined;
  try {
    release = await turns.take(userId, signal);
    return await run(await open(), signal);
  } catch (error) {
    const { name, code, $metadata } = error as {
      name?: string;
      code?: string;
      $metadata?: { httpStatusCode?: number };
    };
    if (name === "NoSuchKey") return undefined;
    log.warn({ name, code, status: $metadata?.httpStatusCode }, "a call of the upload store failed");
    throw new StoreOutageError();
  } finally {
    release?.();
  }
}

/** Returns once the object is stored permanently. */
export async function putObject(userId: string, key: string, body: Uint8Array): Promise<void> {
  await call(userId, body.byteLength, ({ sdk, client, bucket: Bucket }, abortSignal) =>
    client.send(
      new sdk.PutObjectCommand({
        Bucket,
        Key: key,
        Body: body,
        ContentLength: body.byteLength,
        ContentType: "application/zstd",
      }),
      { abortSignal },
    ),
  );
}

/**
 * @returns undefined for a missing object
 * @throws StoreOutageError also if there are fewer bytes
 */
export function readObject(
  userId: string,
  key: string,
  from: number,
  bytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return call(userId, bytes, async ({ sdk, client, bucket: Bucket }, abortSignal) => {
    const Range = `bytes=${from}-${from + bytes - 1}`;
    const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket, Key: key, Range }), { abortSignal });
    const read = new Uint8Array(bytes);
    let at = 0;
    for await (const chunk of Body as AsyncIterable<Uint8Array>) {
      if (at + chunk.length > bytes) throw new Error("the object is longer");
      read.set(chunk, at);
      at += chunk.length;
    }
    if (at < bytes) throw new Error("the object is shorter");
    return read;
  });
}

export async function deleteObject(key: string): Promise<void> {
  await call("", 0, ({ sdk, client, bucket: Bucket }, abortSignal) =>
    client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key }), { abortSignal }),
  );
}

export type StoredObject = { key: string; storedAt: Date };

/** Lists up to a thousand objects whose keys begin with `prefix` and follow `after`, in key order. */
export async function listObjects(prefix: string, after?: string): Promise<StoredObject[]> {
  const page = await call("", 0, ({ sdk, client, bucket: Bucket }, abortSignal) =>
    client.send(new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix, StartAfter: after }), { abortSignal }),
  );
  return (page?.Contents ?? []).map(({ Key = "", LastModified = new Date() }) => ({
    key: Key,
    storedAt: LastModified,
  }));
}

export async function pingStore(): Promise<void> {
  await call("", 0, ({ sdk, client, bucket: Bucket }, abortSignal) =>
    client.send(new sdk.HeadBucketCommand({ Bucket }), {
      abortSignal: AbortSignal.any([abortSignal, AbortSignal.timeout(bounds.connectSeconds * 1000)]),
    }),
  );
}
