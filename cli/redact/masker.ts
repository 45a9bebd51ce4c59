import { createHash, createHmac } from "node:crypto";
import { findSecrets } from "../../lib/secrets/find.ts";
import { changeTexts, replaceSecrets } from "../../lib/secrets/mask.ts";
import type { Message, SessionDetails } from "../adapters/adapter.ts";

/** How many secrets of each kind (lib/secrets/kinds.ts); one that a session has several times counts once. */
export type SecretCounts = Record<string, number>;

/** So many secrets of a session are told apart. */
const maxSeen = 10_000;

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
    return changeTexts(message, (text) => this.text(text));
  }

  details(details: SessionDetails): SessionDetails {
    return changeTexts(details, (text) => this.text(text));
  }

  text(text: string): string {
    const secrets = findSecrets(text).filter(({ certain }) => certain);
    for (const { kind, start, end } of secrets) this.#count(kind, text.slice(start, end));
    const key = this.#key;
    if (!key || secrets.length === 0) return text;
    return replaceSecrets(text, secrets, (kind, value) => `[redacted:${kind}:${markOf(key, value)}]`);
  }

  #count(kind: string, value: string): void {
    const hash = createHash("sha256").update(value).digest("base64");
    if (this.#seen.has(hash)) return;
    if (this.#seen.size < maxSeen) this.#seen.add(hash);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }
}

const markOf = (key: Buffer, value: string): string =>
  createHmac("sha256", key).update(value).digest("hex").slice(0, 8);

/** Adds `more` to `total`. */
export function addCounts(total: SecretCounts, more: SecretCounts = {}): void {
  for (const [kind, count] of Object.entries(more)) total[kind] = (total[kind] ?? 0) + count;
}
