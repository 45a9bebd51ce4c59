// Runs in the decoding thread: reads a batch and keeps what is known of its traces, without their messages.
import { hash } from "node:crypto";
import { MessageRows } from "#lib/ingest/decode/message-rows";
import { normalizeMessage, normalizeTrace, parseBatch, Sanitizer, type TraceFields } from "#lib/ingest/decode/parser";
import { type ScannedTrace, Scanner } from "#lib/ingest/decode/scanner";
import { type Survey, surveyRows } from "#lib/ingest/decode/survey";
import type { SentTrace } from "#lib/ingest/schema";

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
  /**
   * The hash of its content: 16 bytes of that of its own fields, then the one of its messages as rows. `sanitized` is not part of it:
   * an export that is sent back has the replaced characters, and is the same trace.
   */
  contentHash: string;
  /** The size of its message rows, as they are sent to PostgreSQL. */
  rowBytes: number;
  /** The trace's offset in the decoded body; null if the batch needs the careful reading. */
  at: number | null;
  /** The messages' text in the decoded body, by which a trace that only grew is recognized; null if it is not usable. */
  text: { at: number; bytes: number; hash: string } | null;
};

/** A batch that was read: its traces (the last one of each key), and how many traces and messages it has. */
export type Manifest = { headers: TraceHeader[]; traces: number; messages: number };

/** The careful reading, with JSON.parse and zod. @throws SpoorError */
export function readCarefully(bytes: Uint8Array): Manifest {
  const manifest = new ManifestMaker();
  const rows = new MessageRows();
  for (const trace of parseBatch(bytes)) {
    const sums = encodeTrace(trace, rows);
    manifest.add(trace, sums, { ...rowsOfTrace(rows), ...surveyRows(rows, undefined) }, { at: null, text: null });
  }
  return manifest;
}

/** Makes the manifest of a batch, a trace after the other. */
export class ManifestMaker implements Manifest {
  readonly #byKey = new Map<string, TraceHeader>();
  traces = 0;
  messages = 0;

  get headers(): TraceHeader[] {
    return [...this.#byKey.values()];
  }

  add(
    sent: SentTrace,
    sums: MessageSums,
    { rowsHash, derivedTitle, titleRank, firstPosition, rowBytes }: RowsOfTrace & Survey,
    place: Pick<TraceHeader, "at" | "text">,
  ): void {
    const sanitizer = new Sanitizer();
    const fields = normalizeTrace(sent, sanitizer);
    const { messageCount, tokenCount, lastMessageAt } = sums;
    const header: TraceHeader = {
      ...fields,
      derivedTitle,
      titleRank,
      sanitized: sums.sanitized || sanitizer.changed,
      messageCount,
      firstPosition,
      tokenCount,
      lastMessageAt,
      contentHash: Buffer.concat([hashFields(fields), Buffer.from(rowsHash, "binary")]).toString("base64"),
      rowBytes,
      ...place,
    };
    const key = JSON.stringify([sent.source, sent.sourceId]);
    this.#byKey.delete(key);
    this.#byKey.set(key, header);
    this.traces += 1;
    this.messages += messageCount;
  }
}

/** What is known of a trace's rows at once. */
export type RowsOfTrace = Pick<TraceHeader, "firstPosition" | "rowBytes">;

export const rowsOfTrace = (rows: MessageRows): RowsOfTrace => ({
  firstPosition: rows.end === 0 ? null : rows.read(0).position,
  rowBytes: rows.end,
});

type MessageSums = Pick<ScannedTrace, "messageCount" | "tokenCount" | "lastMessageAt" | "sanitized">;

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

const hashFields = ({ model, title, project, createdAt, metadata }: OwnFields): Buffer =>
  hash("sha256", JSON.stringify([model, title, project, createdAt, metadata]), "buffer").subarray(0, fieldsHashBytes);

/** A trace's own fields that its content hash depends on. */
export type OwnFields = Pick<TraceFields, "model" | "title" | "project" | "createdAt" | "metadata">;

/**
 * The content hash of a stored trace that got other fields or more messages. Its messages are not read again, so with more
 * messages it is not the hash of the same trace sent whole.
 */
export function appendedHash(fields: OwnFields, stored: string, appended: TraceHeader): string {
  const [before, more] = [stored, appended.contentHash].map((one) =>
    Buffer.from(one, "base64").subarray(fieldsHashBytes),
  ) as [Buffer, Buffer];
  const messages = appended.messageCount === 0 ? before : hash("sha256", Buffer.concat([before, more]), "buffer");
  return Buffer.concat([hashFields(fields), messages]).toString("base64");
}

const fieldsHashBytes = 16;
/** The number of Base64 characters of a content hash that depend on the trace's own fields only. */
const fieldsHashCharacters = Math.floor((fieldsHashBytes * 4) / 3);

/** Whether two content hashes belong to traces with equal fields of their own. */
export const haveSameFields = (one: string, other: string) =>
  one.slice(0, fieldsHashCharacters) === other.slice(0, fieldsHashCharacters);
