// Everything of a batch that takes the processor's time. For large ones it runs in a decoding thread (decode.ts).
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdCompressSync } from "node:zlib";
import { parse as uuidBytes } from "uuid";
import { copyHeader, copyTrailer } from "#lib/copy-format";
import { type Encoding, inflate } from "#lib/ingest/decode/inflate";
import {
  isGrown,
  type Manifest,
  packManifest,
  type ReadRows,
  readBatch,
  readBatchInTurns,
  rowsOf,
  type TraceHeader,
  unpackManifest,
} from "#lib/ingest/decode/manifest";
import { Rows } from "#lib/ingest/decode/message-rows";
import { limits } from "#lib/limits";
import { free } from "#lib/memory";

type OwnBytes = Uint8Array<ArrayBuffer>;

type WireBody = { body: Uint8Array; encoding: Encoding; maxBytes: number };

/** A decoded body: its size and hash, by which one that came before is known. */
export type Received = { bytes: number; sha256: OwnBytes };

/** What a body was found to be: the manifest that is stored with it, and what its job starts with. */
export type Found = { manifest: OwnBytes; traces: number; messages: number };

/** A checked body, with what is stored of it. */
export type Checked = Found & { stored: OwnBytes };

/**
 * Which messages to write: those of the trace at `index` behind the first `skipBytes` bytes of their text, as rows of
 * `traceId`.
 */
export type CopyPlan = { userId: string; traces: { index: number; traceId: string; skipBytes: number }[] };

/** A part of a COPY stream, in memory of its own. */
export type Part = { bytes: OwnBytes; isLast: boolean };

/**
 * What can be asked of a batch. `receive` keeps a body, of which `pack` and `read` speak, and `judge` is all three at once;
 * `manifest` and `open` (which gives the headers where no manifest did) keep a batch, of which `grown` and `copy` speak. `copy` with a plan gives the first part of its COPY
 * stream, then without one the next. `close` lets go of everything. One ends before the next begins, but for `pack`, which
 * ends while `read` is under way.
 */
export type Operations = {
  receive(input: WireBody): Received;
  pack(): Promise<OwnBytes>;
  read(): Promise<Found>;
  judge(input: WireBody): Promise<Received & Checked>;
  manifest(input: { packed: OwnBytes }): TraceHeader[] | undefined;
  open(input: { stored: OwnBytes; bytes: number }): TraceHeader[] | undefined;
  grown(input: { index: number; bytes: number; hash: string }[]): boolean[];
  copy(plan: CopyPlan | undefined): Part;
  close(): void;
};

/**
 * How much of a COPY stream one call hands over, in bytes: first little, so that PostgreSQL has something to do at once, then
 * twice as much each time. Of a small batch it is what that and the rows' own fields come to.
 */
const [firstCopyBytes, maxCopyBytes] = [256 << 10, 4 << 20];
const smallestPartBytes = 16 << 10;

const compressBeside = promisify(zstdCompress);

/** The batch that is open: its traces, and once it is decoded its bytes and what reads their rows. */
type Open = { headers: TraceHeader[] | undefined; bytes: Uint8Array; readRows: ReadRows };

const nothing: Open = {
  headers: undefined,
  bytes: new Uint8Array(),
  readRows: () => {
    throw new Error("no batch is open");
  },
};

/** The operations on one batch at a time. */
export function makeOperations(): Operations {
  let received: { body: Uint8Array; decoded: Uint8Array; isZstd: boolean; isBeingPacked: boolean } | undefined;
  let open = nothing;
  let copying: Generator<Part, Part> | undefined;

  const body = () => {
    if (!received) throw new Error("no body was received");
    return received;
  };

  const operations: Operations = {
    receive({ body, encoding, maxBytes }) {
      const decoded = inflate(body, encoding, maxBytes);
      received = { body, decoded, isZstd: encoding === "zstd", isBeingPacked: false };
      return { bytes: decoded.byteLength, sha256: own(createHash("sha256").update(decoded).digest()) };
    },

    // Compressing runs on another thread beside the reading. Level 1 makes an 18 MB batch 4.9 times smaller in 46 ms;
    // storing it plain takes half a second more.
    async pack() {
      const packing = body();
      if (packing.isZstd) return own(packing.body);
      packing.isBeingPacked = true;
      const packed = await compress(packing.decoded);
      packing.isBeingPacked = false;
      return ownAlone(packed);
    },

    async read() {
      return found(await readBatchInTurns(body().decoded));
    },

    async judge(input) {
      try {
        const read = operations.receive(input);
        return { ...read, ...found(readBatch(body().decoded)), stored: await operations.pack() };
      } finally {
        received = undefined; // the body is the caller's
      }
    },

    manifest({ packed }) {
      const headers = unpackManifest(packed);
      open = { ...nothing, headers };
      return headers;
    },

    open({ stored, bytes }) {
      const decoded = inflate(stored, "zstd", limits.ingest.decodableBytes, pieceOf(bytes));
      const known = open.headers;
      const headers = known ?? readBatch(decoded).headers;
      open = { headers, bytes: decoded, readRows: rowsOf(decoded, headers) };
      return known ? undefined : headers;
    },

    grown(stored) {
      return stored.map(({ index, ...text }) => isGrown(open.bytes, open.headers?.[index] as TraceHeader, text));
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
    },
  };
  return operations;
}

const found = (manifest: Manifest): Found => ({
  manifest: own(packManifest(manifest)),
  traces: manifest.traces,
  messages: manifest.messages,
});

/** By how much nearly every body becomes smaller: real sessions 4.9 times. */
const usualRatio = 3;

/** A body of up to this size is compressed on the spot: another thread would take longer to wake than to do it. */
const spotBytes = 64 * 1024;

function compress(bytes: Uint8Array): Promise<Buffer> | Buffer {
  const params = { [constants.ZSTD_c_compressionLevel]: 1 };
  if (bytes.byteLength <= spotBytes) return zstdCompressSync(bytes, { params });
  // Most output is one chunk: at the end of each the compressing waits for this thread, which is reading.
  return compressBeside(bytes, { params, chunkSize: Math.ceil(bytes.byteLength / usualRatio) });
}

/** The COPY stream of a plan in parts of some megabytes, so that a batch's rows never stand in memory at once. */
function* copyStream(open: Open, { userId, traces }: CopyPlan): Generator<Part, Part> {
  const user = uuidBytes(userId);
  const rows = new Rows();
  let partBytes = Math.min(firstCopyBytes, open.bytes.byteLength + smallestPartBytes);
  let part = Buffer.allocUnsafeSlow(partBytes);
  let end = copyHeader.copy(part);
  for (const { index, traceId, skipBytes } of traces) {
    open.readRows(index, skipBytes, rows);
    rows.fillIn(user, uuidBytes(traceId));
    for (let at = 0; at < rows.end; ) {
      const copied = rows.bytes.copy(part, end, at, rows.end);
      at += copied;
      end += copied;
      if (end < partBytes) continue;
      yield { bytes: part, isLast: false };
      partBytes = Math.min(2 * partBytes, maxCopyBytes);
      part = Buffer.allocUnsafeSlow(partBytes);
      end = 0;
    }
  }
  if (end + copyTrailer.length > partBytes) {
    yield { bytes: part.subarray(0, end), isLast: false };
    return { bytes: new Uint8Array(copyTrailer), isLast: true };
  }
  part.set(copyTrailer, end);
  return { bytes: part.subarray(0, end + copyTrailer.length), isLast: true };
}

/** The memory to inflate into: a little more than comes, or Node asks for another piece to find the end in. */
const pieceOf = (bytes: number) => Math.max(64, bytes + 1);

/** Bytes with memory of their own: what shares a buffer with others can't be handed to another thread. */
function own(bytes: Uint8Array): OwnBytes {
  const { buffer, byteLength } = bytes;
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return whole ? (bytes as OwnBytes) : new Uint8Array(bytes);
}

/** As `own`, of bytes that nobody else uses: what lies around them is freed at once. */
function ownAlone(bytes: Uint8Array): OwnBytes {
  const alone = own(bytes);
  if (alone !== bytes) free(bytes);
  return alone;
}

/** The place of an unforeseen error. Its stack says where, never what: a message could quote the body. */
export function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return `${error.name}\n${error.stack?.split("\n    at ").slice(1).join("\n    at ")}`;
}
