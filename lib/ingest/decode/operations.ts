// Runs in a decoding thread (thread-pool.ts) if a batch is large.
import { hash } from "node:crypto";
import { parse as uuidBytes } from "uuid";
import { copyHeader, copyTrailer } from "#lib/core/copy-format";
import { sha256 } from "#lib/core/digest";
import { free } from "#lib/core/memory";
import { writeJson } from "#lib/ingest/decode/as-json";
import { type Encoding, inflate } from "#lib/ingest/decode/inflate";
import { packManifest, type TraceHeader, unpackBatch, unpackManifest } from "#lib/ingest/decode/manifest";
import { MessageRows } from "#lib/ingest/decode/message-rows";
import { Packing } from "#lib/ingest/decode/packing";
import { type ReadBatch, readBatch } from "#lib/ingest/decode/read-batch";
import { type Comparison, compareRows, type StoredHashes } from "#lib/ingest/decode/row-hashes";
import { type MaskingOperations, makeMasking } from "#lib/ingest/decode/stored-masking";
import type { MaskingPolicy } from "#lib/masking/masker";

type OwnBytes = Uint8Array<ArrayBuffer>;

type WireBody = { body: Uint8Array; encoding: Encoding; maxBytes: number };

/** The SHA-256 recognizes a repeated body. */
export type Received = { bytes: number; sha256: OwnBytes };

export type TraceSize = { source: string; sourceId: string; bytes: number; isMore: boolean };

export type Checked = {
  manifest: OwnBytes;
  stored: OwnBytes;
  traces: number;
  messages: number;
  sizes: TraceSize[];
  isMasked: boolean;
};

type StoredBody = { stored: OwnBytes; policy: MaskingPolicy | undefined };

/** `isMasked` means that something was masked only now. */
type Opened = { headers: TraceHeader[]; isMasked: boolean };

type TracePlan = { index: number; traceId: string; skipBytes: number; except?: number[] };
export type CopyPlan = { userId: string; traces: TracePlan[] };

export type Chunk = { bytes: OwnBytes; isLast: boolean };

/**
 * `receive` keeps a body, `read` reads it, `judge` does both. `manifest` and `open` open a stored batch, and `copy` returns
 * the first chunk of a plan's COPY stream, then without a plan the next. `mask` begins a trace.
 */
export type Operations = MaskingOperations & {
  receive(input: WireBody): Received;
  read(input: { policy?: MaskingPolicy }): Promise<Checked>;
  judge(input: WireBody & { policy?: MaskingPolicy }): Promise<Received & Checked>;
  manifest(input: { packed: OwnBytes; stamp: string }): TraceHeader[] | undefined;
  open(input: StoredBody): Promise<Opened | undefined>;
  grown(input: { index: number; bytes: number; hash: string }[]): boolean[];
  compare(input: { index: number; stored: StoredHashes }[]): Comparison[];
  copy(plan: CopyPlan | undefined): Chunk;
  readAgain(input: StoredBody): Promise<Checked>;
  close(): void;
};

/** The first chunk is small, so that PostgreSQL can start at once. */
const [firstCopyBytes, maxCopyBytes] = [256 << 10, 4 << 20];
const minChunkBytes = 16 << 10;

type Open = { headers: TraceHeader[] | undefined; rows: Buffer };

const nothing: Readonly<Open> = { headers: undefined, rows: Buffer.alloc(0) };

export function makeOperations(): Operations {
  let received: Uint8Array | undefined;
  let open = nothing;
  let copying: Generator<Chunk, Chunk> | undefined;
  const { endMasking, ...masking } = makeMasking();

  const operations: Operations = {
    ...masking,

    receive({ body, encoding, maxBytes }) {
      received = inflate(body, encoding, maxBytes);
      return { bytes: received.byteLength, sha256: own(sha256(received)) };
    },

    read({ policy }) {
      if (!received) throw new Error("no body was received");
      return check(received, policy);
    },

    async judge({ policy, ...body }) {
      try {
        const { bytes, sha256 } = operations.receive(body);
        return { bytes, sha256, ...(await operations.read({ ...(policy && { policy }) })) };
      } finally {
        received = undefined; // the caller owns the memory
      }
    },

    manifest({ packed, stamp }) {
      const manifest = unpackManifest(packed);
      open = { ...nothing, headers: manifest?.stamp === stamp ? manifest.headers : undefined };
      return open.headers;
    },

    async open({ stored, policy }) {
      const batch = unpackBatch(stored);
      if (open.headers && "rows" in batch) {
        if (!haveSameRows(open.headers, batch.manifest.headers)) throw new Error("a stored body was masked meanwhile");
        open = { ...open, rows: batch.rows };
        return undefined;
      }
      const rows: Buffer[] = [];
      const { headers, isMasked } = await readStored(batch, policy, (more) => rows.push(more));
      open = { headers, rows: Buffer.concat(rows) };
      return { headers, isMasked };
    },

    grown(stored) {
      return stored.map(({ index, bytes, hash: known }) => {
        const rows = getRows(open, index);
        return rows.byteLength >= bytes && hash("sha256", rows.subarray(0, bytes), "base64") === known;
      });
    },

    compare(traces) {
      return traces.map(({ index, stored }) => compareRows(new MessageRows(getRows(open, index)), stored));
    },

    copy(plan) {
      if (plan) copying = copyStream(open, plan);
      if (!copying) throw new Error("nothing is being copied");
      return copying.next().value;
    },

    readAgain({ stored, policy }) {
      return pack((keep) => readStored(unpackBatch(stored), policy, keep), policy);
    },

    close() {
      free(open.rows);
      if (received) free(received);
      received = undefined;
      open = nothing;
      copying = undefined;
      endMasking();
    },
  };
  return operations;
}

const check = (bytes: Uint8Array, policy: MaskingPolicy | undefined): Promise<Checked> =>
  pack((keep) => readBatch(bytes, policy, keep), policy);

async function pack(
  read: (keep: (rows: Buffer) => Promise<void>) => Promise<ReadBatch>,
  policy: MaskingPolicy | undefined,
): Promise<Checked> {
  const packing = new Packing();
  try {
    const { headers, traces, messages, isMasked } = await read((rows) => packing.add(rows));
    const manifest = packManifest({ headers, stamp: policy?.stamp ?? "" });
    return {
      manifest: own(manifest),
      stored: own(Buffer.concat([manifest, await packing.end()])),
      traces,
      messages,
      sizes: headers.map(measureTrace),
      isMasked,
    };
  } finally {
    packing.abandon();
  }
}

function measureTrace({
  source,
  sourceId,
  rowBytes,
  title,
  derivedTitle,
  model,
  project,
  metadata,
  append,
}: TraceHeader) {
  // As lib/ingest/quota/sql.ts counts: the key is also in an index.
  const texts = [source, sourceId, source, sourceId, title, derivedTitle, model, project, metadata];
  const bytes = rowBytes + texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
  return { source, sourceId, bytes, isMore: append !== null };
}

/** The JSON is Spoor 0.2's. */
async function readStored(
  batch: ReturnType<typeof unpackBatch>,
  policy: MaskingPolicy | undefined,
  keep: (rows: Buffer) => unknown,
): Promise<ReadBatch> {
  if ("json" in batch) return readBatch(batch.json, policy, keep);
  const { headers } = batch.manifest;
  const parts: Buffer[] = [];
  for await (const part of writeJson(headers, [batch.rows])) parts.push(part);
  const read = await readBatch(Buffer.concat(parts), policy, keep);
  for (const [index, header] of read.headers.entries()) header.sanitized ||= headers[index]?.sanitized === true;
  return read;
}

const haveSameRows = (some: TraceHeader[], others: TraceHeader[]): boolean =>
  some.length === others.length && some.every(({ contentHash }, index) => contentHash === others[index]?.contentHash);

function getRows({ headers = [], rows }: Open, index: number): Buffer {
  const { at, rowBytes } = headers[index] as TraceHeader;
  return rows.subarray(at, at + rowBytes);
}

function* copyStream(open: Open, { userId, traces }: CopyPlan): Generator<Chunk, Chunk> {
  const user = uuidBytes(userId);
  let chunkBytes = Math.min(firstCopyBytes, open.rows.byteLength + minChunkBytes);
  let chunk = Buffer.allocUnsafeSlow(chunkBytes);
  let end = copyHeader.copy(chunk);
  for (const { index, traceId, skipBytes, except } of traces) {
    const rows = new MessageRows(getRows(open, index).subarray(skipBytes));
    rows.fillIn(user, uuidBytes(traceId));
    for (const part of except ? rows.without(new Set(except)) : [rows.bytes]) {
      for (let at = 0; at < part.byteLength; ) {
        const copied = part.copy(chunk, end, at);
        at += copied;
        end += copied;
        if (end < chunkBytes) continue;
        yield { bytes: chunk, isLast: false };
        chunkBytes = Math.min(2 * chunkBytes, maxCopyBytes);
        chunk = Buffer.allocUnsafeSlow(chunkBytes);
        end = 0;
      }
    }
  }
  if (end + copyTrailer.length > chunkBytes) {
    yield { bytes: chunk.subarray(0, end), isLast: false };
    return { bytes: new Uint8Array(copyTrailer), isLast: true };
  }
  chunk.set(copyTrailer, end);
  return { bytes: chunk.subarray(0, end + copyTrailer.length), isLast: true };
}

/** Shared memory can't be transferred to another thread. */
function own(bytes: Uint8Array): OwnBytes {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? (bytes as OwnBytes) : new Uint8Array(bytes);
}

/** An error's message could quote the body. */
export function describePlace(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return `${error.name}\n${error.stack?.split("\n    at ").slice(1).join("\n    at ")}`;
}
