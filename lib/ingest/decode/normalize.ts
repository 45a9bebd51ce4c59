import { parseInstant } from "#lib/core/fields";
import { storable, storableJson } from "#lib/core/json";
import type { SentMessage, SentTrace } from "#lib/ingest/schema";

export type BatchMessage = {
  position: number;
  role: string | null;
  content: string;
  tokenCount: number | null;
  createdAt: number | null;
  metadata: string | null;
};

/** Times are in milliseconds since 1970. */
export type TraceFields = {
  source: string;
  sourceId: string;
  model: string | null;
  title: string | null;
  project: string | null;
  createdAt: number | null;
  metadata: string | null;
  replace: boolean;
  /** Null if this upload has all messages. */
  append: number | null;
};

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
    createdAt: readTime(createdAt),
    metadata: sanitizer.json(unknown, metadata),
    replace: replace ?? false,
    append: append?.count ?? null,
  };
}

export function normalizeMessage(sent: SentMessage, sanitizer: Sanitizer): BatchMessage {
  const { position, role, content, tokenCount, createdAt, metadata, ...unknown } = sent;
  return {
    position,
    role: sanitizer.text(role),
    content: sanitizer.text(content) ?? "",
    tokenCount: tokenCount ?? null,
    createdAt: readTime(createdAt),
    metadata: sanitizer.json(unknown, metadata),
  };
}

const readTime = (text: string | undefined) => (text === undefined ? null : parseInstant(text));

/** Makes texts storable, and records whether any changed. */
export class Sanitizer {
  changed = false;
  /** The number of digits that PostgreSQL adds when it writes the JSON's numbers without exponents. */
  excessDigits = 0;

  readonly #clean = (text: string): string => {
    const clean = storable(text);
    if (clean !== text) this.changed = true;
    return clean;
  };

  text(text: string | undefined): string | null {
    return text === undefined ? null : this.#clean(text);
  }

  json(unknown: Record<string, unknown>, metadata: Record<string, unknown> | undefined): string | null {
    const merged = { ...unknown, ...metadata };
    if (metadata === undefined && Object.keys(merged).length === 0) return null;
    const json = JSON.stringify(storableJson(merged, this.#clean, this.#addDigits));
    this.excessDigits -= json.length;
    return json;
  }

  /** Here JavaScript writes an exponent, and PostgreSQL digits. */
  readonly #addDigits = (value: number): void => {
    const size = Math.abs(value);
    if (size >= 1e21 || (size < 1e-6 && size > 0)) this.excessDigits += Math.ceil(Math.abs(Math.log10(size)));
  };
}
