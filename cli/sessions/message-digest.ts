import { createHash } from "node:crypto";

/**
 * Digest of a session's messages: a chain of SHA-256 over segments, so that a grown session's digest continues without
 * reading earlier segments.
 */
export class MessageDigest {
  #chain: string;
  #segment = createHash("sha256");

  /** @param chain the digest of earlier segments */
  constructor(chain = "") {
    this.#chain = chain;
  }

  add(piece: Buffer): void {
    this.#segment.update(piece);
  }

  /** Ends a segment. @returns the digest so far, in base64url */
  cut(): string {
    const segment = this.#segment.digest("base64url");
    this.#segment = createHash("sha256");
    this.#chain = createHash("sha256").update(`${this.#chain}\n${segment}`).digest("base64url");
    return this.#chain;
  }
}
