import { createHash, createHmac } from "node:crypto";
import { Echoes } from "../../lib/secrets/echoes.ts";
import { findSecrets, mayNameSecret, type Secret, hasNoKeyword } from "../../lib/secrets/find-secrets.ts";
import { changeTexts, maskByContext, replaceSecrets, unescapeText } from "../../lib/secrets/mask.ts";
import { makePlaceholder } from "../../lib/secrets/kinds.ts";
import type { Message, SessionDetails } from "../adapters/adapter.ts";

/** How many secrets of each kind (lib/secrets/kinds.ts); one that a session has several times counts once. */
export type SecretCounts = Record<string, number>;

/** The server takes 64 levels of nesting, of which five stand around a message's fields. What is deeper is sent as its JSON's text. */
const maxLevels = 56;

const asItIs = { levels: maxLevels, change: (value: object) => value };

/** A longer text is no name of what stands beside it. */
const maxNameChars = 80;

/** So many secrets of a session are told apart. */
const maxSeen = 10_000;

/** Names of fields that hold no secret and tell of none, so many at most: messages have few, again and again. */
const plainNames = new Set<string>();
const maxPlainNames = 5000;

/**
 * Counts the secrets in a session's texts, and masks them where it has a key: `[redacted:KIND:xxxxxxxx]`, at whose end stands an
 * HMAC, so that the same secret on the same machine is always masked alike. Only what is certain to be a secret is counted.
 */
export class Masker {
  readonly #key: Buffer | undefined;
  /** Those that were counted, hashed. */
  readonly #seen = new Set<string>();
  readonly counts: SecretCounts = {};
  /** Sessions are read once, in bounded memory: a value is masked in what follows the text that tells of it. */
  readonly #echoes = new Echoes();
  /** Set once a name or short text may tell that what stands beside it is a secret. */
  #isTold = false;
  /** The same functions for all messages. */
  readonly #change = (text: string): string => {
    if (text.length <= maxNameChars) {
      if (hasNoKeyword(text)) return text;
      this.#isTold ||= mayNameSecret(text);
    }
    return this.text(text);
  };
  readonly #changeName = (name: string): string => {
    if (plainNames.has(name)) return name;
    const isPlain =
      name.length <= maxNameChars && (hasNoKeyword(name) || (!mayNameSecret(name) && findSecrets(name).length === 0));
    if (!isPlain) return this.#change(name);
    if (plainNames.size < maxPlainNames) plainNames.add(name);
    return name;
  };
  readonly #certainIn = (text: string): Secret[] => {
    const secrets = findSecrets(text).filter(({ certain }) => certain);
    for (const { kind, start, end } of secrets) this.#count(kind, unescapeText(text.slice(start, end)));
    return secrets;
  };
  readonly #deep = { levels: maxLevels, change: (value: object): string => this.text(jsonOfDeep(value)) };

  constructor(key?: Buffer) {
    this.#key = key;
  }

  message(message: Message): Message {
    return this.#echoes.without(this.#value(message), asItIs);
  }

  details(details: SessionDetails): SessionDetails {
    return this.#echoes.without(this.#value(details), asItIs);
  }

  #value<T extends { metadata?: Record<string, unknown> }>(value: T): T {
    this.#isTold = false;
    const masked = changeTexts(value, this.#change, this.#deep, this.#changeName);
    if (!this.#isTold || !masked.metadata) return masked;
    if (!this.#key) this.#certainIn(JSON.stringify(masked.metadata));
    if (!this.#key) return masked;
    const metadata = maskByContext(masked.metadata, this.#certainIn, this.#replacement);
    return metadata === masked.metadata ? masked : { ...masked, metadata };
  }

  readonly #replacement = (kind: string, value: string): string => {
    if (!this.#key) return value;
    const placeholder = makePlaceholder(kind, markOf(this.#key, value));
    this.#echoes.see(kind, value, placeholder);
    return placeholder;
  };

  text(text: string): string {
    const found = findSecrets(text);
    if (found.length === 0) return text;
    const secrets = found.filter(({ certain }) => certain);
    for (const { kind, start, end } of secrets) this.#count(kind, text.slice(start, end));
    if (!this.#key || secrets.length === 0) return text;
    return replaceSecrets(text, secrets, this.#replacement);
  }

  #count(kind: string, value: string): void {
    const hash = createHash("sha256").update(value).digest("base64");
    if (this.#seen.has(hash)) return;
    if (this.#seen.size < maxSeen) this.#seen.add(hash);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }
}

/** The JSON of a value; where it is so deep that not even that can be made, a note. */
function jsonOfDeep(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return "[Spoor: what is missing here is nested too deep.]";
    throw error;
  }
}

const markOf = (key: Buffer, value: string): string =>
  createHmac("sha256", key).update(value).digest("hex").slice(0, 8);

/** Adds `more` to `total`. */
export function addCounts(total: SecretCounts, more: SecretCounts = {}): void {
  for (const [kind, count] of Object.entries(more)) total[kind] = (total[kind] ?? 0) + count;
}
