import { createHash } from "node:crypto";

/** The SHA-256 of a text or of bytes, 32 bytes. */
export function sha256(content: string | Uint8Array): Buffer<ArrayBuffer> {
  return createHash("sha256").update(content).digest();
}
