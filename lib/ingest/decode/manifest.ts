// Runs in the decoding thread: what is known of a batch once it was read, without its messages.
import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { constants, zstdCompressSync } from "node:zlib";
import { inflate } from "#lib/ingest/decode/inflate";
import { notPlain } from "#lib/ingest/decode/json-cursor";
import { MessageRows } from "#lib/ingest/decode/message-rows";
import {
  hasHeavyMetadata,
  normalizeMessage,
  normalizeTrace,
  parseBatch,
  Sanitizer,
  type TraceFields,
} from "#lib/ingest/decode/parser";
import { type ScannedTrace, Scanner } from "#lib/ingest/decode/scanner";
import { calledCommand, firstLine, humanLine } from "#lib/ingest/decode/title";
import { ingestTrace, type SentTrace } from "#lib/ingest/schema";
import { limits } from "#lib/limits";

/** A trace without its messages, as the database compares it with what it has. Hashes are made with SHA-256, in Base64. */
export type TraceHeader = TraceFields & {
  derivedTitle: string | null;
  sanitized: boolean;
  messageCount: number;
  tokenCount: number;
  lastMessageAt: number | null;
  contentHash: string;
  /** Where the trace begins in the decoded body; null where the batch is read by way of JavaScript values. */
  at: number | null;
  /** The messages as they stand in the decoded body, by which a trace is known that only grew; null where they can't be. */
  text: { at: number; bytes: number; hash: string } | null;
};

/** A batch that was read: its traces (of a key that stands twice the last one), and how many came. */
export type Manifest = { headers: TraceHeader[]; traces: number; messages: number };

/**
 * Reads and judges a decoded batch.
 *
 * @throws SpoorError as `parseBatch`
 */
export function readBatch(bytes: Uint8Array): Manifest {
  try {
    return readPlain(bytes);
  } catch (error) {
    if (error !== notPlain) throw error;
    return readCarefully(bytes);
  }
}

/** How much is read between two turns of the event loop, in bytes. */
const turnBytes = 1 << 20;

/** As `readBatch`, but lets other things of the event loop happen meanwhile. */
export async function readBatchInTurns(bytes: Uint8Array): Promise<Manifest> {
  try {
    const steps = plainSteps(bytes);
    let turnAt = turnBytes;
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (value < turnAt) continue;
      turnAt = value + turnBytes;
      await nextTurn();
    }
  } catch (error) {
    if (error !== notPlain) throw error;
    return readCarefully(bytes);
  }
}

/** The quick reading. @throws `notPlain` */
export function readPlain(bytes: Uint8Array): Manifest {
  const steps = plainSteps(bytes);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The quick reading, a trace at a time; gives the place where each begins. */
function* plainSteps(bytes: Uint8Array): Generator<number, Manifest> {
  const manifest = new ManifestMaker();
  const rows = new MessageRows();
  const scanner = new Scanner(bytes);
  for (const at of scanner.batch()) {
    yield at;
    if (manifest.traces === limits.ingest.traces) throw notPlain;
    const scanned = scanner.trace(at, rows);
    const parsed = ingestTrace.safeParse(scanned.fields);
    if (!parsed.success || hasHeavyMetadata(parsed.data)) throw notPlain;
    manifest.add(parsed.data, scanned, rows, { at, text: scanned.text && textOf(bytes, scanned.text) });
  }
  return manifest;
}

/** The reading by way of JavaScript values. @throws SpoorError */
export function readCarefully(bytes: Uint8Array): Manifest {
  const manifest = new ManifestMaker();
  const rows = new MessageRows();
  for (const trace of parseBatch(bytes)) {
    manifest.add(trace, encodeTrace(trace, rows), rows, { at: null, text: null });
  }
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
      derivedTitle: deriveTitle(rows),
      sanitized: sums.sanitized || sanitizer.changed,
      messageCount,
      tokenCount,
      lastMessageAt,
      contentHash: contentHash(fields, rows),
      ...place,
    };
    const key = JSON.stringify([sent.source, sent.sourceId]);
    this.#byKey.delete(key);
    this.#byKey.set(key, header);
    this.traces += 1;
    this.messages += messageCount;
  }
}

type MessageSums = Pick<ScannedTrace, "messageCount" | "tokenCount" | "lastMessageAt" | "sanitized">;

function textOf(bytes: Uint8Array, { from, to }: { from: number; to: number }): TraceHeader["text"] {
  return { at: from, bytes: to - from, hash: hash("sha256", bytes.subarray(from, to), "base64") };
}

/** Writes a trace's messages into `rows`, in order of position. */
function encodeTrace(sent: SentTrace, rows: MessageRows): MessageSums {
  const sanitizer = new Sanitizer();
  const messages = sent.messages.map((message) => normalizeMessage(message, sanitizer));
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
  };
}

/** Writes messages of the trace at `index` into `rows`: those behind the first `skipBytes` bytes of their text. */
export type ReadRows = (index: number, skipBytes: number, rows: MessageRows) => void;

/**
 * What reads the rows of a manifest's traces.
 *
 * @param bytes the decoded batch that the manifest was made of.
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
    if (!trace) throw new Error("a manifest names a trace that its batch does not have");
    encodeTrace(trace, rows);
  };
}

/** Whether the messages that are stored of a trace, known by their text's size and hash, are the first ones of it. */
export function isGrown(bytes: Uint8Array, { text }: TraceHeader, stored: { bytes: number; hash: string }): boolean {
  if (!text || text.bytes < stored.bytes) return false;
  return hash("sha256", bytes.subarray(text.at, text.at + stored.bytes), "base64") === stored.hash;
}

/**
 * The hash of a trace's content: of its own fields, in the first 16 bytes, and of its messages as rows. That some characters
 * had to be replaced is not part of it: an export that comes back has the replaced ones, and is the same conversation.
 */
function contentHash({ model, title, project, createdAt, metadata }: TraceFields, rows: MessageRows): string {
  const fields = JSON.stringify([model, title, project, createdAt, metadata]);
  const hashes = [
    hash("sha256", fields, "buffer").subarray(0, fieldsHashBytes),
    hash("sha256", rows.bytes.subarray(0, rows.end), "buffer"),
  ];
  return Buffer.concat(hashes).toString("base64");
}

const fieldsHashBytes = 16;
/** The characters of a content hash in Base64 that tell of the trace's own fields alone. */
const fieldsHashCharacters = Math.floor((fieldsHashBytes * 4) / 3);

/** Whether two content hashes are of traces whose own fields are the same. */
export const haveSameFields = (one: string, other: string) =>
  one.slice(0, fieldsHashCharacters) === other.slice(0, fieldsHashCharacters);

/** How much of a long message is looked at for its first line, in bytes. */
const firstLineBytes = 64 * 1024;

/**
 * The first line that the user wrote, at most as long as a title; where there is none but commands' echoes, the first
 * command that was called, else the first line of all.
 */
function deriveTitle(rows: MessageRows): string | null {
  let command: string | undefined;
  let first: string | undefined;
  for (let at = 0; at < rows.end; at = rows.next(at)) {
    const { role, content } = rows.read(at);
    if (role !== "user") continue;
    const start = content.toString("utf8", 0, firstLineBytes);
    const text = /\S/.test(start) || content.length <= firstLineBytes ? start : content.toString("utf8");
    const line = humanLine(text);
    if (line) return line;
    command ??= calledCommand(text);
    first ??= firstLine(text);
  }
  return command ?? first ?? null;
}

/** The version of what is stored as a manifest; one of another version is made anew from the upload. */
const version = 2;

/** Below this size a manifest is stored as it is: to make a compressor takes longer than it saves. */
const plainBytes = 2048;

/** A manifest as it is stored beside its upload: JSON, compressed with zstd where it is worth it. */
export function packManifest({ headers }: Manifest): Buffer {
  const json = Buffer.from(JSON.stringify({ version, headers }));
  if (json.byteLength <= plainBytes) return json;
  return zstdCompressSync(json, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/** The traces of a stored manifest, or undefined where it is of another version. */
export function unpackManifest(packed: Uint8Array): TraceHeader[] | undefined {
  const isPlain = packed[0] === "{".charCodeAt(0);
  const json = isPlain ? packed : inflate(packed, "zstd", limits.ingest.maxDecodableBytes);
  const stored = JSON.parse(Buffer.from(json).toString("utf8"));
  return stored.version === version ? stored.headers : undefined;
}
