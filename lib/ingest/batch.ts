// Runs in the decoding thread: pure functions, no database, no environment.
import { createHash } from "node:crypto";
import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from "node:zlib";
import { SpoorError } from "#lib/errors";
import { ingestRequest, type SentMessage, type SentTrace } from "#lib/ingest/schema";
import { parseJson, storable, storableJson } from "#lib/json";
import { limits } from "#lib/limits";

export const encodings = ["identity", "gzip", "br", "zstd"] as const;
export type Encoding = (typeof encodings)[number];

/** A message as it is stored. */
export type BatchMessage = {
  position: number;
  role: string | null;
  content: string;
  tokenCount: number | null;
  createdAt: number | null;
  metadata: string | null;
};

/** A trace as it is stored, its messages in order of position; times are in milliseconds since 1970. */
export type BatchTrace = {
  source: string;
  sourceId: string;
  model: string | null;
  title: string | null;
  derivedTitle: string | null;
  project: string | null;
  createdAt: number | null;
  metadata: string | null;
  replace: boolean;
  sanitized: boolean;
  tokenCount: number;
  lastMessageAt: number | null;
  messages: BatchMessage[];
};

/**
 * Decodes a body as it came over the wire.
 *
 * @param maxBytes the cap of the decoded size; inflating stops there.
 * @throws SpoorError `payload_too_large` over the cap, `invalid_request` for a truncated or corrupt stream or one with
 *   anything behind its end.
 */
export function inflate(body: Uint8Array, encoding: Encoding, maxBytes: number): Uint8Array {
  if (encoding === "identity") {
    if (body.byteLength > maxBytes) throw tooLarge(maxBytes);
    return body;
  }
  const parts: Uint8Array[] = [];
  let room = maxBytes;
  let rest = body;
  try {
    do {
      if (room < 1) throw tooLarge(maxBytes);
      const { buffer, engine } = decoders[encoding](rest, { maxOutputLength: room, info: true });
      rest = rest.subarray(engine.bytesWritten);
      room -= buffer.byteLength;
      parts.push(buffer);
      // A zstd stream may have several frames (RFC 8878, section 3), and Node decodes one at a time.
    } while (rest.byteLength > 0 && encoding === "zstd" && parts.length < mostFrames);
  } catch (error) {
    if (error instanceof SpoorError) throw error;
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw corrupt(encoding);
  }
  if (rest.byteLength > 0) throw corrupt(encoding);
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
}

/** Frames of a zstd stream; one made of many tiny ones would only cost time. */
const mostFrames = 1024;

type Inflated = { buffer: Uint8Array; engine: { bytesWritten: number } };
type Inflate = (body: Uint8Array, options: { maxOutputLength: number; info: true }) => Inflated;

const decoders: Record<Exclude<Encoding, "identity">, Inflate> = {
  gzip: (body, options) => gunzipSync(body, options) as unknown as Inflated,
  br: (body, options) => brotliDecompressSync(body, options) as unknown as Inflated,
  // RFC 8878, section 3.1.1.1.2 advises decoders to support windows of 8 MiB and lets them refuse larger ones.
  zstd: (body, options) =>
    zstdDecompressSync(body, { ...options, params: { [constants.ZSTD_d_windowLogMax]: 23 } }) as unknown as Inflated,
};

const corrupt = (encoding: string) =>
  new SpoorError("invalid_request", `The body is not one complete ${encoding} stream and nothing else.`);

const tooLarge = (maxBytes: number) =>
  new SpoorError("payload_too_large", `The decoded body is over the limit of ${maxBytes} bytes.`);

/**
 * Parses and validates a decoded body.
 *
 * @throws SpoorError `invalid_json` for anything that is not UTF-8 JSON, `invalid_request` with the paths of what is
 *   wrong in it. Nothing of the body is in either.
 */
export function parseBatch(bytes: Uint8Array): SentTrace[] {
  const parsed = ingestRequest.safeParse(parseJson(bytes));
  if (!parsed.success) {
    const errors = parsed.error.issues.slice(0, 20).map(({ path, message }) => ({ path: path.join("."), message }));
    throw new SpoorError("invalid_request", "The batch is not valid; see errors.", { errors });
  }
  const { traces } = parsed.data;
  const repeated = traces.flatMap((trace, index) =>
    repeatedPositions(trace).map((at) => `traces.${index}.messages.${at}.position`),
  );
  if (repeated.length > 0) {
    const errors = repeated.slice(0, 20).map((path) => ({ path, message: "stands twice in its trace" }));
    throw new SpoorError("invalid_request", "The batch is not valid; see errors.", { errors });
  }
  const heavy = traces.flatMap((trace, index) => (hasHeavyMetadata(trace) ? [`traces.${index}.metadata`] : []));
  if (heavy.length > 0) {
    const message = `has more than ${limits.trace.metadataBytes} bytes with the trace's unknown fields`;
    const errors = heavy.slice(0, 20).map((path) => ({ path, message }));
    throw new SpoorError("invalid_request", "The batch is not valid; see errors.", { errors });
  }
  return traces;
}

/** A list shows the metadata of two hundred traces at once, so that of one has a bound. */
function hasHeavyMetadata({ messages: _messages, ...own }: SentTrace): boolean {
  return Buffer.byteLength(JSON.stringify(own)) > limits.trace.metadataBytes;
}

function repeatedPositions({ messages }: SentTrace): number[] {
  const seen = new Set<number>();
  return messages.flatMap(({ position }, index) => {
    if (seen.has(position)) return [index];
    seen.add(position);
    return [];
  });
}

/** The traces of a batch as they are stored. Where a key stands twice, the last one wins. */
export function normalize(sent: SentTrace[]): BatchTrace[] {
  const byKey = new Map<string, BatchTrace>();
  for (const trace of sent) {
    const key = JSON.stringify([trace.source, trace.sourceId]);
    byKey.delete(key);
    byKey.set(key, normalizeTrace(trace));
  }
  return [...byKey.values()];
}

function normalizeTrace(sent: SentTrace): BatchTrace {
  const clean = new Cleaner();
  const { sourceId, source, messages, model, title, project, createdAt, replace, metadata, ...unknown } = sent;
  const stored = messages.map((message) => normalizeMessage(message, clean)).sort((a, b) => a.position - b.position);
  return {
    source,
    sourceId,
    model: clean.text(model),
    title: clean.text(title),
    derivedTitle: deriveTitle(stored),
    project: clean.text(project),
    createdAt: timeOf(createdAt),
    metadata: clean.json(unknown, metadata),
    replace: replace ?? false,
    tokenCount: stored.reduce((sum, { tokenCount }) => sum + (tokenCount ?? 0), 0),
    lastMessageAt: stored.reduce<number | null>(
      (last, { createdAt: at }) => (at === null ? last : Math.max(last ?? at, at)),
      null,
    ),
    messages: stored,
    sanitized: clean.changed,
  };
}

function normalizeMessage(sent: SentMessage, clean: Cleaner): BatchMessage {
  const { position, role, content, tokenCount, createdAt, metadata, ...unknown } = sent;
  return {
    position,
    role: clean.text(role),
    content: clean.text(content) ?? "",
    tokenCount: tokenCount ?? null,
    createdAt: timeOf(createdAt),
    metadata: clean.json(unknown, metadata),
  };
}

const timeOf = (text: string | undefined) => (text === undefined ? null : Date.parse(text));

/** The first line with something in it of the first user message, at most as long as a title. */
function deriveTitle(messages: BatchMessage[]): string | null {
  const first = messages.find(({ role, content }) => role === "user" && /\S/.test(content));
  const line = first && /\S[^\r\n]*/.exec(first.content)?.[0].trim();
  return line ? line.slice(0, limits.trace.title).toWellFormed() : null;
}

/** Makes texts storable, and notes whether any had to be changed. */
class Cleaner {
  changed = false;

  readonly #clean = (text: string): string => {
    const clean = storable(text);
    if (clean !== text) this.changed = true;
    return clean;
  };

  text(text: string | undefined): string | null {
    return text === undefined ? null : this.#clean(text);
  }

  /** One object of a trace's unknown fields and its metadata (which wins), as JSON; null where there is neither. */
  json(unknown: Record<string, unknown>, metadata: Record<string, unknown> | undefined): string | null {
    const merged = { ...unknown, ...metadata };
    if (metadata === undefined && Object.keys(merged).length === 0) return null;
    return JSON.stringify(storableJson(merged, this.#clean));
  }
}

/**
 * The hash of a trace's first messages after each of some counts, in one pass.
 *
 * @param counts how many messages each hash is to cover.
 * @returns a SHA-256 for each count that the trace reaches.
 */
export function messageHashes(messages: BatchMessage[], counts: ReadonlySet<number>): Map<number, Buffer> {
  const hash = createHash("sha256");
  const hashes = new Map<number, Buffer>();
  if (counts.has(0)) hashes.set(0, hash.copy().digest());
  messages.forEach((message, index) => {
    const { position, role, content, tokenCount, createdAt, metadata } = message;
    hash.update(JSON.stringify([position, role, tokenCount, createdAt, metadata, content.length]));
    hash.update(content);
    if (counts.has(index + 1)) hashes.set(index + 1, hash.copy().digest());
  });
  return hashes;
}

/**
 * The hash of a trace's content: its own fields, and its messages by their hash. That some characters had to be replaced
 * is not part of it: an export that comes back has the replaced ones, and is the same conversation.
 */
export function contentHash(trace: BatchTrace, messagesHash: Uint8Array): Buffer {
  const { model, title, project, createdAt, metadata } = trace;
  return createHash("sha256")
    .update(JSON.stringify([model, title, project, createdAt, metadata]))
    .update(messagesHash)
    .digest();
}
