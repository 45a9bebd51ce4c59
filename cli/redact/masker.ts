import { createHash, createHmac, randomBytes } from "node:crypto";
import { Echoes } from "../../common/secrets/echoes.ts";
import { findSecrets, hasNoKeyword, mayNameSecret, type Secret } from "../../common/secrets/find-secrets.ts";
import { makePlaceholder } from "../../common/secrets/kinds.ts";
import { changeTexts, maskByContext, replaceSecrets, unescapeText } from "../../common/secrets/mask.ts";
import type { Message, SessionDetails } from "../adapters/adapter.ts";
import type { Context } from "../context.ts";
import { CommandError } from "../errors.ts";
import { areSettingsBroken, readSettings, type Settings, updateSettings } from "../settings.ts";

/** Number of different secrets in a session, by kind (common/secrets/kinds.ts). */
export type SecretCounts = Record<string, number>;

/** The server accepts 64 levels of nesting, five of them around a message's fields; deeper values become JSON text. */
const maxLevels = 56;

const asItIs = { levels: maxLevels, change: (value: object) => value };

/** A longer text can't name a secret in a neighboring field. */
const maxNameChars = 80;

const maxSeen = 10_000;

/** Messages repeat a few field names. */
const plainNames = new Set<string>();
const maxPlainNames = 5000;

/** With a key, an HMAC ends each `[redacted:KIND:xxxxxxxx]`, so that this machine always masks a secret alike. */
export class Masker {
  readonly #key: Buffer | undefined;
  readonly #seen = new Set<string>();
  readonly counts: SecretCounts = {};
  /** A session is read once, in bounded memory, so a value is masked only after the text that reveals it. */
  readonly #echoes = new Echoes();
  /** A name or short text suggests that a neighboring field is a secret. */
  #hasHint = false;
  readonly #change = (text: string): string => {
    if (text.length <= maxNameChars) {
      if (hasNoKeyword(text)) return text;
      this.#hasHint ||= mayNameSecret(text);
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
  readonly #deep = { levels: maxLevels, change: (value: object): string => this.text(encodeDeep(value)) };

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
    this.#hasHint = false;
    const masked = changeTexts(value, this.#change, this.#deep, this.#changeName);
    if (!this.#hasHint || !masked.metadata) return masked;
    if (!this.#key) this.#certainIn(JSON.stringify(masked.metadata));
    if (!this.#key) return masked;
    const metadata = maskByContext(masked.metadata, this.#certainIn, this.#replacement);
    return metadata === masked.metadata ? masked : { ...masked, metadata };
  }

  readonly #replacement = (kind: string, value: string): string => {
    if (!this.#key) return value;
    const placeholder = makePlaceholder(kind, computeMark(this.#key, value));
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

/** Returns a note if the value is too deep even for JSON. */
function encodeDeep(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return "[Spoor: what is missing here is nested too deep.]";
    throw error;
  }
}

const computeMark = (key: Buffer, value: string): string =>
  createHmac("sha256", key).update(value).digest("hex").slice(0, 8);

export function addCounts(total: SecretCounts, more: SecretCounts = {}): void {
  for (const [kind, count] of Object.entries(more)) total[kind] = (total[kind] ?? 0) + count;
}

const keyBytes = 32;

const parseKey = ({ redactKey }: Settings): Buffer | undefined =>
  redactKey !== undefined && /^[0-9a-f]{64}$/.test(redactKey) ? Buffer.from(redactKey, "hex") : undefined;

export const isRedacting = ({ redact }: Settings): boolean => redact !== false;

/**
 * The first use makes the key.
 *
 * @returns undefined if masking is off
 */
export async function loadMaskKey({ host, values }: Context): Promise<Buffer | undefined> {
  const settings = await readSettings(host);
  if (values["no-redact"] === true || !isRedacting(settings)) return undefined;
  const made = randomBytes(keyBytes).toString("hex");
  if (parseKey(settings)) return parseKey(settings);
  // Another command may have made one at the same time. If the settings are broken, the key is for this run only.
  if (await areSettingsBroken(host)) return Buffer.from(made, "hex");
  await updateSettings(host, (now) => (parseKey(now) ? now : { ...now, redactKey: made })).catch((error) => {
    if (!(error instanceof CommandError)) throw error;
  });
  return parseKey(await readSettings(host)) ?? Buffer.from(made, "hex");
}
