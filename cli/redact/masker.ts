import { createHash, createHmac } from "node:crypto";
import { findSecrets, type Secret } from "../../lib/secrets/find.ts";
import type { Message, SessionDetails } from "../adapters/adapter.ts";

/** How many secrets of each kind (lib/secrets/kinds.ts); one that a session has several times counts once. */
export type SecretCounts = Record<string, number>;

/** So many secrets of a session are told apart. */
const maxSeen = 10_000;
/** The server takes no deeper JSON. */
const maxDepth = 100;

/**
 * Counts the secrets in a session's texts, and masks them where it has a key: `[redacted:KIND:xxxxxxxx]`, at whose end stands an
 * HMAC, so that the same secret on the same machine is always masked alike. Only what is certain to be a secret is counted.
 */
export class Masker {
  readonly #key: Buffer | undefined;
  /** Those that were counted, hashed. */
  readonly #seen = new Set<string>();
  readonly counts: SecretCounts = {};

  constructor(key?: Buffer) {
    this.#key = key;
  }

  message(message: Message): Message {
    return this.#value(message, 0) as Message;
  }

  details(details: SessionDetails): SessionDetails {
    return this.#value(details, 0) as SessionDetails;
  }

  /** The same value where nothing in it is masked. */
  #value(value: unknown, depth: number): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null || depth > maxDepth) return value;
    return Array.isArray(value) ? this.#list(value, depth) : this.#fields(value as Record<string, unknown>, depth);
  }

  // A line may have millions of values: what is not changed is not copied.
  #list(list: unknown[], depth: number): unknown[] {
    let masked: unknown[] | undefined;
    for (let index = 0; index < list.length; index++) {
      const now = this.#value(list[index], depth + 1);
      if (now === list[index]) continue;
      masked ??= [...list];
      masked[index] = now;
    }
    return masked ?? list;
  }

  #fields(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
    let masked: Record<string, unknown> | undefined;
    for (const key in fields) {
      const now = this.#value(fields[key], depth + 1);
      if (now === fields[key]) continue;
      masked ??= { ...fields };
      masked[key] = now;
    }
    return masked ?? fields;
  }

  text(text: string): string {
    const secrets = findSecrets(text).filter(({ certain }) => certain);
    for (const { kind, start, end } of secrets) this.#count(kind, text.slice(start, end));
    return this.#key && secrets.length > 0 ? maskAll(text, secrets, this.#key) : text;
  }

  #count(kind: string, value: string): void {
    const hash = createHash("sha256").update(value).digest("base64");
    if (this.#seen.has(hash)) return;
    if (this.#seen.size < maxSeen) this.#seen.add(hash);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }
}

function maskAll(text: string, secrets: readonly Secret[], key: Buffer): string {
  let masked = "";
  let at = 0;
  for (const { kind, start, end } of secrets) {
    const mark = createHmac("sha256", key).update(text.slice(start, end)).digest("hex").slice(0, 8);
    masked += `${text.slice(at, start)}[redacted:${kind}:${mark}]`;
    at = end;
  }
  return masked + text.slice(at);
}

/** Adds `more` to `total`. */
export function addCounts(total: SecretCounts, more: SecretCounts = {}): void {
  for (const [kind, count] of Object.entries(more)) total[kind] = (total[kind] ?? 0) + count;
}
