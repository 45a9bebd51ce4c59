// The decoding thread: everything of a batch that takes the processor's time, off the event loop.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { parentPort } from "node:worker_threads";
import { constants, zstdCompress } from "node:zlib";
import { SpoorError } from "#lib/errors";
import { type Encoding, inflate } from "#lib/ingest/inflate";
import {
  isGrown,
  packManifest,
  type ReadRows,
  readBatch,
  rowsOf,
  type TraceHeader,
  unpackManifest,
} from "#lib/ingest/manifest";
import { copyHeader, copyTrailer, Rows } from "#lib/ingest/rows";

type OwnBytes = Uint8Array<ArrayBuffer>;

type WireBody = { body: Uint8Array; encoding: Encoding; maxBytes: number };

/** A decoded body: its size and hash, by which one that came before is known. */
export type Received = { bytes: number; sha256: OwnBytes };

/** A checked body: what is stored of it, and what its job starts with. */
export type Checked = { stored: OwnBytes; manifest: OwnBytes; traces: number; messages: number };

/**
 * Which messages to write: those of the trace at `index` behind the first `skipBytes` bytes of their text, as rows of
 * `traceId`.
 */
export type CopyPlan = { userId: string; traces: { index: number; traceId: string; skipBytes: number }[] };

/**
 * What the thread can be asked. `receive` keeps a body, of which `check` speaks, and `judge` is both at once; `manifest` and
 * `open` keep a batch, of which `grown`, `plan` and `copy` speak. `close` lets go of both.
 */
export type Operations = {
  receive(input: WireBody): Received;
  check(): Promise<Checked>;
  judge(input: WireBody): Promise<Received & Checked>;
  manifest(input: { packed: OwnBytes }): TraceHeader[] | undefined;
  open(input: { stored: OwnBytes; maxBytes: number }): TraceHeader[];
  grown(input: { index: number; bytes: number; hash: string }[]): boolean[];
  plan(input: CopyPlan): void;
  copy(): OwnBytes[];
  close(): void;
};

export type Call = { operation: keyof Operations; input: unknown };
export type Answer =
  | { ok: true; result: unknown }
  | { ok: false; code: SpoorError["code"]; message: string; errors: SpoorError["errors"] }
  | { ok: false; stack: string };

/** How much of a COPY stream one call hands over, in bytes. */
const copyBytes = 4 << 20;

const compress = promisify(zstdCompress);

/** The batch that is open: its traces, and once it is decoded its bytes and what reads their rows. */
type Open = { headers: TraceHeader[] | undefined; bytes: Uint8Array; readRows: ReadRows };

const nothing: Open = {
  headers: undefined,
  bytes: new Uint8Array(),
  readRows: () => {
    throw new Error("no batch is open");
  },
};

let received: { decoded: Uint8Array; packed: Uint8Array | undefined } | undefined;
let open = nothing;
let copying: Generator<OwnBytes> | undefined;

const operations: Operations = {
  receive({ body, encoding, maxBytes }) {
    const decoded = inflate(body, encoding, maxBytes);
    received = { decoded, packed: encoding === "zstd" ? body : undefined };
    return { bytes: decoded.byteLength, sha256: own(createHash("sha256").update(decoded).digest()) };
  },

  async check() {
    if (!received) throw new Error("no body was received");
    const { decoded, packed } = received;
    // Compressing runs on another thread beside the reading. Level 1 makes an 18 MB batch 4.9 times smaller in 46 ms;
    // storing it plain takes half a second more.
    const packing = packed ?? compress(decoded, compression(decoded.byteLength));
    try {
      const manifest = readBatch(decoded);
      const { traces, messages } = manifest;
      return { stored: own(await packing), manifest: own(packManifest(manifest)), traces, messages };
    } finally {
      await packing;
    }
  },

  async judge(input) {
    try {
      return { ...operations.receive(input), ...(await operations.check()) };
    } finally {
      operations.close();
    }
  },

  manifest({ packed }) {
    const headers = unpackManifest(packed);
    open = { ...nothing, headers };
    return headers;
  },

  open({ stored, maxBytes }) {
    const bytes = inflate(stored, "zstd", maxBytes);
    const headers = open.headers ?? readBatch(bytes).headers;
    open = { headers, bytes, readRows: rowsOf(bytes, headers) };
    return headers;
  },

  grown(stored) {
    return stored.map(({ index, ...text }) => isGrown(open.bytes, open.headers?.[index] as TraceHeader, text));
  },

  plan(input) {
    copying = copyStream(input);
  },

  copy() {
    const next = copying?.next();
    return next?.value ? [next.value] : [];
  },

  close() {
    received = undefined;
    open = nothing;
    copying = undefined;
  },
};

/**
 * All of the output is one chunk: at the end of each the compressing would wait for this thread, which is reading. What is
 * not used of it is never touched.
 */
const compression = (bytes: number) => ({
  chunkSize: bytes + (bytes >> 8) + 1024,
  params: { [constants.ZSTD_c_compressionLevel]: 1 },
});

/** The COPY stream of a plan in parts of some megabytes, so that a batch's rows never stand in memory at once. */
function* copyStream({ userId, traces }: CopyPlan): Generator<OwnBytes> {
  const user = uuidBytes(userId);
  const rows = new Rows();
  let part = Buffer.allocUnsafeSlow(copyBytes);
  let end = part.write(copyHeader, "latin1");
  for (const { index, traceId, skipBytes } of traces) {
    open.readRows(index, skipBytes, rows);
    rows.fillIn(user, uuidBytes(traceId));
    for (let at = 0; at < rows.end; ) {
      const copied = rows.bytes.copy(part, end, at, rows.end);
      at += copied;
      end += copied;
      if (end < part.byteLength) continue;
      yield part;
      part = Buffer.allocUnsafeSlow(copyBytes);
      end = 0;
    }
  }
  yield part.subarray(0, end);
  yield new Uint8Array(copyTrailer);
}

const uuidBytes = (uuid: string) => Buffer.from(uuid.replaceAll("-", ""), "hex");

/** Bytes with memory of their own: what shares a buffer with others can't be handed to another thread. */
function own(bytes: Uint8Array): OwnBytes {
  const { buffer, byteLength } = bytes;
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return whole ? (bytes as OwnBytes) : new Uint8Array(bytes);
}

async function answer({ operation, input }: Call): Promise<{ answer: Answer; transfer: ArrayBuffer[] }> {
  try {
    const result = await (operations[operation] as (input: unknown) => unknown)(input);
    const moved =
      operation === "check" || operation === "judge"
        ? [(result as Checked).stored]
        : operation === "copy"
          ? (result as OwnBytes[])
          : [];
    return { answer: { ok: true, result }, transfer: moved.map(({ buffer }) => buffer) };
  } catch (error) {
    if (error instanceof SpoorError) {
      const { code, message, errors } = error;
      return { answer: { ok: false, code, message, errors }, transfer: [] };
    }
    // The stack says where, never what: a message could quote the body.
    const stack =
      error instanceof Error ? `${error.name}\n${error.stack?.split("\n    at ").slice(1).join("\n    at ")}` : "";
    return { answer: { ok: false, stack }, transfer: [] };
  }
}

parentPort?.on("message", async (call: Call) => {
  const { answer: message, transfer } = await answer(call);
  parentPort?.postMessage(message, transfer);
});
