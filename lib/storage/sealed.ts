// AES-256-GCM (NIST SP 800-38D) in pieces, so that a long body can be read as it arrives. A sealed body begins with a
// mark, its key's id and eight random bytes. The nonce of each piece has its number and whether it is the last, so no
// piece can be removed, moved or truncated.
import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { env } from "#lib/core/env";
import { EnvError } from "#lib/core/errors";

type OwnBytes = Uint8Array<ArrayBuffer>;
type Key = { id: string; bytes: Buffer };

const mark = Buffer.from("SPE1");
const [idBytes, saltBytes, tagBytes, pieceBytes] = [4, 8, 16, 1 << 20];
const headBytes = mark.length + idBytes + saltBytes;
const sealedPieceBytes = pieceBytes + tagBytes;
const algorithm = "aes-256-gcm";

export class BrokenSealError extends Error {
  override name = "BrokenSealError";
}

/** The first key seals; stored bodies are opened with the key that their id names. */
function keys(): Key[] {
  const { ENCRYPTION_KEY, ENCRYPTION_KEY_FILE } = env();
  const given = ENCRYPTION_KEY ?? (ENCRYPTION_KEY_FILE ? readFileSync(ENCRYPTION_KEY_FILE, "utf8") : "");
  return given
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((text) => {
      const bytes = Buffer.from(text, "base64");
      if (bytes.length !== 32)
        throw new EnvError("The environment is not valid.\n  ENCRYPTION_KEY: each key must be 32 bytes in base64");
      return { bytes, id: hash("sha256", bytes, "hex").slice(0, idBytes * 2) };
    });
}

export const seals = (): boolean => keys().length > 0;

/** Returns true for bytes that are sealed with another key than new ones, or not sealed although new ones are. */
export function isOutdated(stored: Uint8Array): boolean {
  const [first] = keys();
  return first !== undefined && readKeyId(stored) !== first.id;
}

function readKeyId(stored: Uint8Array): string | undefined {
  if (stored.length < headBytes || mark.compare(stored, 0, mark.length) !== 0) return undefined;
  return Buffer.from(stored.subarray(mark.length, mark.length + idBytes)).toString("hex");
}

export function seal(body: OwnBytes): OwnBytes {
  const [key] = keys();
  if (!key) return body;
  const count = Math.max(1, Math.ceil(body.length / pieceBytes));
  const sealed = new Uint8Array(headBytes + body.length + count * tagBytes);
  const salt = randomBytes(saltBytes);
  sealed.set(Buffer.concat([mark, Buffer.from(key.id, "hex"), salt]));
  let end = headBytes;
  for (let n = 0; n < count; n += 1) {
    const cipher = createCipheriv(algorithm, key.bytes, makeNonce(salt, n));
    cipher.setAAD(lastness(n === count - 1));
    const piece = Buffer.concat([cipher.update(body.subarray(n * pieceBytes, (n + 1) * pieceBytes)), cipher.final()]);
    sealed.set(piece, end);
    sealed.set(cipher.getAuthTag(), end + piece.length);
    end += piece.length + tagBytes;
  }
  return sealed;
}

/** @throws BrokenSealError if it was changed; Error if its key is missing */
export function unseal(stored: OwnBytes): OwnBytes {
  if (readKeyId(stored) === undefined) return stored;
  const opener = new Opener();
  return new Uint8Array(Buffer.concat([...opener.take(stored), opener.end()]));
}

export async function* unsealParts(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let opener: Opener | undefined;
  let isFirst = true;
  for await (const part of parts) {
    if (isFirst && readKeyId(part) !== undefined) opener = new Opener();
    isFirst = false;
    if (opener) yield* opener.take(part);
    else yield part;
  }
  if (opener) yield opener.end();
}

/** The last piece is only known at the end. */
class Opener {
  #held: Buffer = Buffer.alloc(0);
  #head: { key: Key; salt: Buffer } | undefined;
  #number = 0;

  *take(part: Uint8Array): Generator<Buffer> {
    this.#held = Buffer.concat([this.#held, part]);
    if (!this.#head) {
      if (this.#held.length < headBytes) return;
      this.#head = {
        key: findKey(this.#held),
        salt: Buffer.from(this.#held.subarray(headBytes - saltBytes, headBytes)),
      };
      this.#held = this.#held.subarray(headBytes);
    }
    while (this.#held.length > sealedPieceBytes) {
      yield this.#open(this.#held.subarray(0, sealedPieceBytes), false);
      this.#held = this.#held.subarray(sealedPieceBytes);
    }
  }

  end(): Buffer {
    return this.#open(this.#held, true);
  }

  #open(piece: Buffer, isLast: boolean): Buffer {
    if (!this.#head || piece.length < tagBytes) throw new BrokenSealError("a sealed body is cut off");
    const { key, salt } = this.#head;
    const decipher = createDecipheriv(algorithm, key.bytes, makeNonce(salt, this.#number));
    decipher.setAAD(lastness(isLast));
    decipher.setAuthTag(piece.subarray(piece.length - tagBytes));
    this.#number += 1;
    const opened = decipher.update(piece.subarray(0, piece.length - tagBytes));
    try {
      return Buffer.concat([opened, decipher.final()]);
    } catch (cause) {
      throw new BrokenSealError("a sealed body was changed", { cause });
    }
  }
}

function findKey(stored: Uint8Array): Key {
  const id = readKeyId(stored);
  const key = keys().find((one) => one.id === id);
  if (!key) throw new Error(`a body is encrypted with the key ${id}, which is not in ENCRYPTION_KEY`);
  return key;
}

function makeNonce(salt: Uint8Array, number: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.set(salt);
  nonce.writeUInt32BE(number, saltBytes);
  return nonce;
}

const lastness = (isLast: boolean): Buffer => Buffer.from([isLast ? 1 : 0]);
