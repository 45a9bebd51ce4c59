// Runs in the decoding thread: reads a batch and keeps what is known of its traces, without their messages.
import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { constants, zstdCompressSync } from "node:zlib";
import type { FieldError } from "#lib/errors";
import { contentHash } from "#lib/ingest/decode/content-hash";
import { inflate } from "#lib/ingest/decode/inflate";
import { notPlain } from "#lib/ingest/decode/json-cursor";
import { MessageRows } from "#lib/ingest/decode/message-rows";
import {
  hasHeavyMetadata,
  hasLongNumbers,
  invalidBatch,
  longNumbersAt,
  normalizeMessage,
  normalizeTrace,
  parseBatch,
  Sanitizer,
  type TraceFields,
} from "#lib/ingest/decode/parser";
import { picturesIn } from "#lib/ingest/decode/row-pictures";
import { titleOf } from "#lib/ingest/decode/row-title";
import { type Place, type ScannedTrace, Scanner } from "#lib/ingest/decode/scanner";
import { ingestTrace, type SentTrace } from "#lib/ingest/schema";
import { limits } from "#lib/limits";

/** A trace without its messages, as a job compares it with what is stored. Hashes are SHA-256 in Base64. */
export type TraceHeader = TraceFields & {
  derivedTitle: string | null;
  titleRank: number | null;
  sanitized: boolean;
  messageCount: number;
  /** The position of its first message; null without one. */
  firstPosition: number | null;
  tokenCount: number;
  lastMessageAt: number | null;
  contentHash: string;
  /** The size of its message rows, as they are sent to PostgreSQL. */
  rowBytes: number;
  /** The pictures that its messages refer to. */
  pictures: { position: number; sha256: string }[];
  /** The trace's offset in the decoded body; null if the batch needs the careful reading. */
  at: number | null;
  /** The messages' text in the decoded body, by which a trace that only grew is recognized; null if it is not usable. */
  text: { at: number; bytes: number; hash: string } | null;
};

/** A batch that was read: its traces (the last one of each key), and how many traces and messages it has. */
export type Manifest = { headers: TraceHeader[]; traces: number; messages: number };

/**
 * Is shown each trace of the quick reading: what it was sent with, its messages as rows, and where it stands in the body.
 *
 * @returns what stands there instead from then on, if that is something else.
 */
export type ReviseTrace = (sent: SentTrace, rows: MessageRows, place: Place) => Uint8Array | undefined;

/**
 * Reads and validates a decoded batch.
 *
 * @throws SpoorError as `parseBatch`
 */
export function readBatch(bytes: Uint8Array, revise?: ReviseTrace): Manifest {
  try {
    return readPlain(bytes, revise);
  } catch (error) {
    if (error !== notPlain) throw error;
    return readCarefully(bytes);
  }
}

/** How many bytes are read in one turn of the event loop. */
const turnBytes = 1 << 20;

/**
 * As `readBatch`, but yields to the event loop regularly.
 *
 * @param turn is called before that, with the offset up to which the quick reading has come.
 */
export async function readBatchInTurns(
  bytes: Uint8Array,
  revise?: ReviseTrace,
  turn?: (at: number) => void,
): Promise<Manifest> {
  try {
    const steps = plainSteps(bytes, revise);
    let turnAt = turnBytes;
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (value < turnAt) continue;
      turnAt = value + turnBytes;
      turn?.(value);
      await nextTurn();
    }
  } catch (error) {
    if (error !== notPlain) throw error;
    return readCarefully(bytes);
  }
}

/** The quick reading. @throws `notPlain` */
export function readPlain(bytes: Uint8Array, revise?: ReviseTrace): Manifest {
  const steps = plainSteps(bytes, revise);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The quick reading, a trace at a time; yields the offset of each. What it returns is of the body as it was revised. */
function* plainSteps(bytes: Uint8Array, revise?: ReviseTrace): Generator<number, Manifest> {
  const manifest = new ManifestMaker();
  const rows = new MessageRows();
  const scanner = new Scanner(bytes);
  let longer = 0;
  for (const from of scanner.batch()) {
    yield from;
    if (manifest.traces === limits.ingest.traces) throw notPlain;
    const sent = readTrace(scanner, from, rows);
    const to = sent.scanned.end;
    const revised = revise?.(sent.fields, rows, { from, to });
    const { fields, scanned } = revised ? readTrace(new Scanner(revised), 0, rows) : sent;
    const text = scanned.text && textOf(revised ?? bytes, scanned.text, longer + (revised ? from : 0));
    manifest.add(fields, scanned, rows, { at: from + longer, text });
    if (revised) longer += revised.byteLength - (to - from);
  }
  return manifest;
}

/** Reads the trace at an offset, with its messages into `rows`. @throws `notPlain` */
function readTrace(scanner: Scanner, at: number, rows: MessageRows): { fields: SentTrace; scanned: ScannedTrace } {
  const scanned = scanner.trace(at, rows);
  const parsed = ingestTrace.safeParse(scanned.fields);
  if (!parsed.success || hasHeavyMetadata(parsed.data) || hasLongNumbers(scanned)) throw notPlain;
  return { fields: parsed.data, scanned };
}

/** The careful reading, with JSON.parse and zod. @throws SpoorError */
export function readCarefully(bytes: Uint8Array): Manifest {
  const manifest = new ManifestMaker();
  const rows = new MessageRows();
  const faults: FieldError[] = [];
  for (const [index, trace] of parseBatch(bytes).entries()) {
    const sums = encodeTrace(trace, rows);
    if (hasLongNumbers(sums)) faults.push(longNumbersAt(index, sums.longest));
    manifest.add(trace, sums, rows, { at: null, text: null });
  }
  if (faults.length > 0) throw invalidBatch(faults);
  return manifest;
}

class ManifestMaker implements Manifest {
  readonly #byKey = new Map<string, TraceHeader>();
  traces = 0;
  messages = 0;

  get headers(): TraceHeader[] {
    return [...this.#byKey.values()];
  }

  add(sent: SentTrace, sums: MessageSums, rows: MessageRows, place: Pick<TraceHeader, "at" | "text">): void {
    const sanitizer = new Sanitizer();
    const fields = normalizeTrace(sent, sanitizer);
    const { messageCount, tokenCount, lastMessageAt } = sums;
    const header: TraceHeader = {
      ...fields,
      ...titleOf(rows),
      sanitized: sums.sanitized || sanitizer.changed,
      messageCount,
      firstPosition: rows.end === 0 ? null : rows.read(0).position,
      tokenCount,
      lastMessageAt,
      contentHash: contentHash(fields, rows),
      rowBytes: rows.end,
      pictures: picturesIn(rows),
      ...place,
    };
    const key = JSON.stringify([sent.source, sent.sourceId]);
    this.#byKey.delete(key);
    this.#byKey.set(key, header);
    this.traces += 1;
    this.messages += messageCount;
  }
}

type MessageSums = Pick<ScannedTrace, "messageCount" | "tokenCount" | "lastMessageAt" | "sanitized" | "excessDigits">;

const textOf = (bytes: Uint8Array, { from, to }: Place, offset: number): TraceHeader["text"] => ({
  at: from + offset,
  bytes: to - from,
  hash: hash("sha256", bytes.subarray(from, to), "base64"),
});

/**
 * Writes a trace's messages into `rows`, in order of position.
 *
 * @returns also which message, as it was sent, has the most excess digits.
 */
function encodeTrace(sent: SentTrace, rows: MessageRows): MessageSums & { longest: number } {
  const sanitizer = new Sanitizer();
  let longest = { index: 0, digits: Number.NEGATIVE_INFINITY };
  const messages = sent.messages.map((message, index) => {
    const before = sanitizer.excessDigits;
    const normal = normalizeMessage(message, sanitizer);
    const digits = sanitizer.excessDigits - before;
    if (digits > longest.digits) longest = { index, digits };
    return normal;
  });
  messages.sort((a, b) => a.position - b.position);
  rows.end = 0;
  for (const message of messages) rows.add(message);
  return {
    messageCount: messages.length,
    tokenCount: messages.reduce((sum, { tokenCount }) => sum + (tokenCount ?? 0), 0),
    lastMessageAt: messages.reduce<number | null>(
      (last, { createdAt: at }) => (at === null ? last : Math.max(last ?? at, at)),
      null,
    ),
    sanitized: sanitizer.changed,
    excessDigits: sanitizer.excessDigits,
    longest: longest.index,
  };
}

/** Writes the messages of the trace at `index` that follow the first `skipBytes` bytes of their text into `rows`. */
export type ReadRows = (index: number, skipBytes: number, rows: MessageRows) => void;

/**
 * A reader of the rows of a batch's traces.
 *
 * @param bytes the decoded batch that the headers were made of.
 */
export function rowsOf(bytes: Uint8Array, headers: TraceHeader[]): ReadRows {
  if (headers.every(({ at }) => at !== null)) {
    const scanner = new Scanner(bytes);
    return (index, skipBytes, rows) => {
      const { at, text } = headers[index] as TraceHeader;
      if (skipBytes > 0 && text) scanner.messagesBehind(text.at + skipBytes, rows);
      else scanner.trace(at ?? 0, rows);
    };
  }
  const byKey = new Map(parseBatch(bytes).map((trace) => [JSON.stringify([trace.source, trace.sourceId]), trace]));
  return (index, _skipBytes, rows) => {
    const trace = byKey.get(JSON.stringify([headers[index]?.source, headers[index]?.sourceId]));
    if (!trace) throw new Error("a manifest names a trace that is not in its batch");
    encodeTrace(trace, rows);
  };
}

/** Whether a trace's stored messages, given by their text's size and hash, are its first ones in the batch. */
export function isGrown(bytes: Uint8Array, { text }: TraceHeader, stored: { bytes: number; hash: string }): boolean {
  if (!text || text.bytes < stored.bytes) return false;
  return hash("sha256", bytes.subarray(text.at, text.at + stored.bytes), "base64") === stored.hash;
}

/** The version of the stored form; a manifest of another version is made again from the upload. */
const version = 6;

/** Up to this size a manifest is stored uncompressed: creating a compressor takes longer than it saves. */
const plainBytes = 2048;

/** A manifest as it is stored with its upload: JSON, compressed with zstd if it is large. @param stamp the policy of its masking */
export function packManifest({ headers }: Manifest, stamp = ""): Buffer {
  const json = Buffer.from(JSON.stringify({ version, stamp, headers }));
  if (json.byteLength <= plainBytes) return json;
  return zstdCompressSync(json, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/** The traces of a stored manifest, or undefined if it has another version, or was made under another policy of masking. */
export function unpackManifest(packed: Uint8Array, stamp = ""): TraceHeader[] | undefined {
  const stored = unpack(packed);
  return stored.stamp === stamp ? stored.headers : undefined;
}

/** The policy that a stored manifest was made under; undefined if it has another version. */
export const stampOf = (packed: Uint8Array): string | undefined => unpack(packed).stamp;

/** As `unpackManifest`, whatever the policy was. */
export const unpackHeaders = (packed: Uint8Array): TraceHeader[] | undefined => unpack(packed).headers;

function unpack(packed: Uint8Array): { stamp?: string; headers?: TraceHeader[] } {
  const isPlain = packed[0] === "{".charCodeAt(0);
  const json = isPlain ? packed : inflate(packed, "zstd", limits.ingest.maxDecodableBytes);
  const stored = JSON.parse(Buffer.from(json).toString("utf8"));
  return stored.version === version ? stored : {};
}
