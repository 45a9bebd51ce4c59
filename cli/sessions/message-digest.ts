import { createHash } from "node:crypto";

/**
 * The digest of a session's messages, in segments: a chain of each segment's SHA-256. Where a session has grown, its digest is
 * continued without reading what stood before; where all of it is read, the same segments give the same digest.
 */
export class MessageDigest {
  #chain: string;
  #segment = createHash("sha256");

  /** @param chain the digest of the segments before */
  constructor(chain = "") {
    this.#chain = chain;
  }

  add(piece: Buffer): void {
    this.#segment.update(piece);
  }

  /** Ends a segment. @returns the digest so far, as base64url */
  cut(): string {
    const segment = this.#segment.digest("base64url");
    this.#segment = createHash("sha256");
    this.#chain = createHash("sha256").update(`${this.#chain}\n${segment}`).digest("base64url");
    return this.#chain;
  }
}
