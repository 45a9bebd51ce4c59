// Runs in the decoding thread: the careful reading of a batch, with JSON.parse and zod, which reports every error. Pure
// functions, no database, no environment.
import { type FieldError, SpoorError } from "#lib/errors";
import { fieldErrors, maxFieldErrors, parseInstant } from "#lib/fields";
import { ingestRequest, ingestTrace, type SentMessage, type SentTrace } from "#lib/ingest/schema";
import { parseJson, storable, storableJson } from "#lib/json";
import { limits } from "#lib/limits";

/** A message as it is stored. */
export type BatchMessage = {
  position: number;
  role: string | null;
  content: string;
  tokenCount: number | null;
  createdAt: number | null;
  metadata: string | null;
};

/** A trace's own fields as they are stored; times are in milliseconds since 1970. */
export type TraceFields = {
  source: string;
  sourceId: string;
  model: string | null;
  title: string | null;
  project: string | null;
  createdAt: number | null;
  metadata: string | null;
  replace: boolean;
  /** How many messages were sent before those of this upload; null where it has all of them. */
  append: number | null;
};

/**
 * Parses and validates a decoded body.
 *
 * @throws SpoorError `invalid_json` for anything that is not UTF-8 JSON, `invalid_request` with the paths of its faults.
 *   Neither quotes the body.
 */
export function parseBatch(bytes: Uint8Array): SentTrace[] {
  const traces = parseTraces(parseJson(bytes));
  const repeated = traces.flatMap((trace, index) =>
    repeatedPositions(trace).map((at) => `traces.${index}.messages.${at}.position`),
  );
  if (repeated.length > 0) {
    throw invalidBatch(repeated.map((path) => ({ path, message: "occurs twice in its trace" })));
  }
  const heavy = traces.flatMap((trace, index) => (hasHeavyMetadata(trace) ? [`traces.${index}.metadata`] : []));
  if (heavy.length > 0) {
    const message = `has more than ${limits.trace.metadataBytes} bytes with the trace's unknown fields`;
    throw invalidBatch(heavy.map((path) => ({ path, message })));
  }
  return traces;
}

function parseTraces(body: unknown): SentTrace[] {
  const request = ingestRequest.safeParse(body);
  if (!request.success) throw invalidBatch(fieldErrors(request.error));
  const traces: SentTrace[] = [];
  const errors: FieldError[] = [];
  for (const [index, sent] of request.data.traces.entries()) {
    const trace = ingestTrace.safeParse(sent);
    if (trace.success) traces.push(trace.data);
    else errors.push(...fieldErrors(trace.error, ["traces", index]));
    if (errors.length >= maxFieldErrors) break;
  }
  if (errors.length > 0) throw invalidBatch(errors);
  return traces;
}

/** The error of a batch that has some faults, of which the first 20 are told. */
export const invalidBatch = (errors: FieldError[]) =>
  new SpoorError("invalid_request", "The batch is not valid; see errors.", { errors: errors.slice(0, maxFieldErrors) });

/** Whether a trace's metadata exceeds its limit: a list returns the metadata of two hundred traces. */
export function hasHeavyMetadata({ messages: _messages, ...own }: SentTrace): boolean {
  const json = JSON.stringify(own);
  return Buffer.byteLength(json) + expandedDigits(json) > limits.trace.metadataBytes;
}

/** How many digits PostgreSQL adds, which writes no exponents: 258 kB of `1e308` become 13 MB, half a second to read. */
const expandedDigits = (json: string): number =>
  [...json.matchAll(/\de[+-](\d{1,3})(?!\d)/g)].reduce((sum, [, digits]) => sum + Number(digits), 0);

/**
 * Whether the numbers in the metadata of a trace's messages are too long once PostgreSQL has written them without exponents: 300 kB
 * of `1e308` become 15 MB, which each reading of the trace would write out. Numbers that are measured never gain so much.
 */
export const hasLongNumbers = ({ excessDigits }: { excessDigits: number }): boolean =>
  excessDigits > limits.ingest.addedDigitsPerTrace;

/** The fault of a trace that `hasLongNumbers`, at the message that has most of them. */
export const longNumbersAt = (trace: number, message: number): FieldError => ({
  path: `traces.${trace}.messages.${message}.metadata`,
  message:
    "has numbers that are too long without their exponents, with those of the trace's other messages; send them as texts",
});

function repeatedPositions({ messages }: SentTrace): number[] {
  const seen = new Set<number>();
  return messages.flatMap(({ position }, index) => {
    if (seen.has(position)) return [index];
    seen.add(position);
    return [];
  });
}

/**
 * A trace's own fields as they are stored.
 *
 * @param sent the trace; its messages are ignored.
 */
export function normalizeTrace(sent: SentTrace, sanitizer: Sanitizer): TraceFields {
  const {
    sourceId,
    source,
    messages: _messages,
    model,
    title,
    project,
    createdAt,
    replace,
    append,
    metadata,
    ...unknown
  } = sent;
  return {
    source,
    sourceId,
    model: sanitizer.text(model),
    title: sanitizer.text(title),
    project: sanitizer.text(project),
    createdAt: timeOf(createdAt),
    metadata: sanitizer.json(unknown, metadata),
    replace: replace ?? false,
    append: append?.count ?? null,
  };
}

/** A message as it is stored. */
export function normalizeMessage(sent: SentMessage, sanitizer: Sanitizer): BatchMessage {
  const { position, role, content, tokenCount, createdAt, metadata, ...unknown } = sent;
  return {
    position,
    role: sanitizer.text(role),
    content: sanitizer.text(content) ?? "",
    tokenCount: tokenCount ?? null,
    createdAt: timeOf(createdAt),
    metadata: sanitizer.json(unknown, metadata),
  };
}

const timeOf = (text: string | undefined) => (text === undefined ? null : parseInstant(text));

/** Makes texts storable, and records whether any had to be changed. */
export class Sanitizer {
  changed = false;
  /** How many digits PostgreSQL adds to the numbers of the JSON so far, beyond as many characters as that JSON has. */
  excessDigits = 0;

  readonly #clean = (text: string): string => {
    const clean = storable(text);
    if (clean !== text) this.changed = true;
    return clean;
  };

  text(text: string | undefined): string | null {
    return text === undefined ? null : this.#clean(text);
  }

  /** Unknown fields and metadata (which takes precedence) as one object, in JSON; null if there is neither. */
  json(unknown: Record<string, unknown>, metadata: Record<string, unknown> | undefined): string | null {
    const merged = { ...unknown, ...metadata };
    if (metadata === undefined && Object.keys(merged).length === 0) return null;
    const json = JSON.stringify(storableJson(merged, this.#clean, this.#addDigits));
    this.excessDigits -= json.length;
    return json;
  }

  /** JavaScript writes an exponent from 1e21 on and below 1e-6; PostgreSQL writes as many digits more, or a few less. */
  readonly #addDigits = (value: number): void => {
    const size = Math.abs(value);
    if (size >= 1e21 || (size < 1e-6 && size > 0)) this.excessDigits += Math.ceil(Math.abs(Math.log10(size)));
  };
}
