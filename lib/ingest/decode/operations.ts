// The work on a batch that takes CPU time. For large ones it runs in a decoding thread (thread-pool.ts).
import { parse as uuidBytes } from "uuid";
import { copyHeader, copyTrailer } from "#lib/copy-format";
import { sha256 } from "#lib/digest";
import { type Encoding, inflate } from "#lib/ingest/decode/inflate";
import {
  isGrown,
  packManifest,
  type ReadRows,
  rowsOf,
  type TraceHeader,
  unpackManifest,
} from "#lib/ingest/decode/manifest";
import { type Masked, type Reading, readMasked, wholeOf } from "#lib/ingest/decode/masked";
import { MessageRows } from "#lib/ingest/decode/message-rows";
import { own, packReceived, type ReceivedBody, readAndPack } from "#lib/ingest/decode/received";
import { type Comparison, compareRows, type StoredHashes } from "#lib/ingest/decode/row-hashes";
import { type MaskingOperations, makeMasking } from "#lib/ingest/decode/stored-masking";
import { limits } from "#lib/limits";
import type { Policy } from "#lib/masking/masker";
import { free } from "#lib/memory";

type OwnBytes = Uint8Array<ArrayBuffer>;

type WireBody = { body: Uint8Array; encoding: Encoding; maxBytes: number };

/** A decoded body's size, and its SHA-256, by which a repeated one is recognized. */
export type Received = { bytes: number; sha256: OwnBytes };

/**
 * What reading a body yields: the manifest that is stored with it, its counts, the sizes that its traces will have, and whether
 * something in it was masked: what is packed from then on is the masked body.
 */
export type Found = { manifest: OwnBytes; traces: number; messages: number; sizes: TraceSize[]; isMasked: boolean };

/** The headers of an opened batch where no manifest had them, and whether something in it was masked now. */
type Opened = { headers: TraceHeader[]; isMasked: boolean };

/** What a trace's messages, metadata and texts will take; `isMore` where that comes on top of what is stored. */
export type TraceSize = { source: string; sourceId: string; bytes: number; isMore: boolean };

/** A validated body, with what is stored of it. */
export type Checked = Found & { stored: OwnBytes };

/**
 * The messages to write of the trace at `index`, as rows of `traceId`: those after the first `skipBytes` bytes of their
 * text, except those at the positions `except`.
 */
type TracePlan = { index: number; traceId: string; skipBytes: number; except?: number[] };
export type CopyPlan = { userId: string; traces: TracePlan[] };

/** A chunk of a COPY stream, in separate memory. */
export type Chunk = { bytes: OwnBytes; isLast: boolean };

/**
 * The operations on a batch. Each ends before the next one starts.
 *
 * While accepting: `receive` holds a body, `read` validates and masks it, and `pack` compresses what it is then, which `read`
 * has begun where it was told that it `isPacked`; `judge` is all three at once.
 * While processing: `manifest` and `open` (which returns the headers if no manifest did) hold a batch, `grown` and `compare`
 * compare it with what is stored, and `copy` returns the first chunk of a plan's COPY stream, then without a plan the next.
 * While what is stored is masked: `mask` begins a trace where it is given one, and masks messages; `maskTexts` masks its own texts.
 * `close` frees what is held.
 */
export type Operations = MaskingOperations & {
  receive(input: WireBody): Received;
  read(input: { policy?: Policy; isPacked: boolean }): Promise<Found>;
  pack(): Promise<OwnBytes>;
  judge(input: WireBody & { policy?: Policy }): Promise<Received & Checked>;
  manifest(input: { packed: OwnBytes; stamp?: string }): TraceHeader[] | undefined;
  open(input: { stored: OwnBytes; bytes: number; policy?: Policy }): Opened | undefined;
  grown(input: { index: number; bytes: number; hash: string }[]): boolean[];
  compare(input: { index: number; stored: StoredHashes }[]): Comparison[];
  copy(plan: CopyPlan | undefined): Chunk;
  close(): void;
};

/**
 * How much of a COPY stream one call returns, in bytes: little at first, so that PostgreSQL can start at once, then twice as
 * much each time. For a small batch it is the size of its rows.
 */
const [firstCopyBytes, maxCopyBytes] = [256 << 10, 4 << 20];
const minChunkBytes = 16 << 10;

/** The open batch: its traces, and once it is decoded its bytes and the reader of its rows. */
type Open = { headers: TraceHeader[] | undefined; bytes: Uint8Array; readRows: ReadRows; differing: SavedRows };

/** Rows that `compare` found to differ, by their trace's index, so that `copy` need not read them again. */
type SavedRows = Map<number, Buffer<ArrayBuffer>>;
/** How many bytes of such rows are held; more are read again. */
const maxSavedBytes = 64 << 20;

const nothing: Readonly<Open> = {
  headers: undefined,
  bytes: new Uint8Array(),
  readRows: () => {
    throw new Error("no batch is open");
  },
  differing: new Map(),
};

/** The operations on one batch at a time. */
export function makeOperations(): Operations {
  let received: ReceivedBody | undefined;
  let open = nothing;
  let copying: Generator<Chunk, Chunk> | undefined;
  const { endMasking, ...masking } = makeMasking();

  const body = () => {
    if (!received) throw new Error("no body was received");
    return received;
  };

  /** From now on the masked body is the one that is packed. */
  const keepMasked = (masked: Masked | undefined) => {
    if (!masked) return;
    const whole = wholeOf(body().decoded, masked);
    received = { body: whole, decoded: whole, isZstd: false, isBeingPacked: false };
  };

  const operations: Operations = {
    ...masking,

    receive({ body, encoding, maxBytes }) {
      const decoded = inflate(body, encoding, maxBytes);
      received = { body, decoded, isZstd: encoding === "zstd", isBeingPacked: false };
      return { bytes: decoded.byteLength, sha256: own(sha256(decoded)) };
    },

    async read({ policy, isPacked }) {
      const reading = await readAndPack(body(), policy, isPacked);
      if (!body().packed) keepMasked(reading.masked);
      return found(reading, policy);
    },

    pack: () => packReceived(body()),

    async judge(input) {
      try {
        const read = operations.receive(input);
        const reading = readMasked(body().decoded, input.policy);
        keepMasked(reading.masked);
        return { ...read, ...found(reading, input.policy), stored: await operations.pack() };
      } finally {
        received = undefined; // the body is the caller's
      }
    },

    manifest({ packed, stamp }) {
      const headers = unpackManifest(packed, stamp);
      open = { ...nothing, headers };
      return headers;
    },

    open({ stored, bytes, policy }) {
      const decoded = inflate(stored, "zstd", limits.ingest.maxDecodableBytes, {
        expected: inflatedBufferBytes(bytes),
      });
      const known = open.headers;
      const reading = known ? undefined : readMasked(decoded, policy);
      const headers = known ?? reading?.manifest.headers ?? [];
      const read = reading?.masked ? wholeOf(decoded, reading.masked) : decoded;
      open = { headers, bytes: read, readRows: rowsOf(read, headers), differing: new Map() };
      return known ? undefined : { headers, isMasked: reading?.masked !== undefined };
    },

    grown(stored) {
      return stored.map(({ index, ...text }) => isGrown(open.bytes, open.headers?.[index] as TraceHeader, text));
    },

    compare(traces) {
      return traces.map(({ index, stored }) => compareTrace(open, index, stored));
    },

    copy(plan) {
      if (plan) copying = copyStream(open, plan);
      if (!copying) throw new Error("nothing is being copied");
      return copying.next().value;
    },

    close() {
      free(open.bytes);
      if (received && !received.isBeingPacked) {
        free(received.decoded);
        free(received.body);
      }
      received = undefined;
      open = nothing;
      copying = undefined;
      endMasking();
    },
  };
  return operations;
}

const found = ({ manifest, masked }: Reading, policy: Policy | undefined): Found => ({
  manifest: own(packManifest(manifest, policy?.stamp)),
  isMasked: masked !== undefined,
  traces: manifest.traces,
  messages: manifest.messages,
  sizes: manifest.headers.map(
    ({ source, sourceId, rowBytes, title, derivedTitle, model, project, metadata, append }) => {
      // As lib/ingest/quota/sql.ts counts what is stored: the key stands in an index, too.
      const texts = [source, sourceId, source, sourceId, title, derivedTitle, model, project, metadata];
      const bytes = rowBytes + texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
      return { source, sourceId, bytes, isMore: append !== null };
    },
  ),
});

/** Compares a trace with what is stored of it, and saves the rows that differ. */
function compareTrace({ readRows, differing }: Open, index: number, stored: StoredHashes): Comparison {
  const rows = new MessageRows();
  readRows(index, 0, rows);
  const compared = compareRows(rows, stored);
  rows.remove(new Set(compared.same));
  const savedBytes = [...differing.values()].reduce((sum, { length }) => sum + length, rows.end);
  if (savedBytes <= maxSavedBytes) differing.set(index, rows.save());
  return compared;
}

/** The COPY stream of a plan in chunks, so that a batch's rows are never all in memory. */
function* copyStream(open: Open, { userId, traces }: CopyPlan): Generator<Chunk, Chunk> {
  const user = uuidBytes(userId);
  const rows = new MessageRows();
  let chunkBytes = Math.min(firstCopyBytes, open.bytes.byteLength + minChunkBytes);
  let chunk = Buffer.allocUnsafeSlow(chunkBytes);
  let end = copyHeader.copy(chunk);
  for (const { index, traceId, skipBytes, except } of traces) {
    const saved = except && open.differing.get(index);
    if (saved) {
      rows.restore(saved);
    } else {
      open.readRows(index, skipBytes, rows);
      if (except) rows.remove(new Set(except));
    }
    rows.fillIn(user, uuidBytes(traceId));
    for (let at = 0; at < rows.end; ) {
      const copied = rows.bytes.copy(chunk, end, at, rows.end);
      at += copied;
      end += copied;
      if (end < chunkBytes) continue;
      yield { bytes: chunk, isLast: false };
      chunkBytes = Math.min(2 * chunkBytes, maxCopyBytes);
      chunk = Buffer.allocUnsafeSlow(chunkBytes);
      end = 0;
    }
  }
  if (end + copyTrailer.length > chunkBytes) {
    yield { bytes: chunk.subarray(0, end), isLast: false };
    return { bytes: new Uint8Array(copyTrailer), isLast: true };
  }
  chunk.set(copyTrailer, end);
  return { bytes: chunk.subarray(0, end + copyTrailer.length), isLast: true };
}

/** The buffer to inflate into is one byte larger than the result, or Node allocates another to find the end. */
const inflatedBufferBytes = (bytes: number) => Math.max(64, bytes + 1);

/** Where an unexpected error happened: its stack without its message, which could quote the body. */
export function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return `${error.name}\n${error.stack?.split("\n    at ").slice(1).join("\n    at ")}`;
}
