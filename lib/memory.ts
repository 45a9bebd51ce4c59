/**
 * Frees a large piece of memory at once, whose bytes nobody uses any more. Otherwise it waits to be collected, and V8 collects
 * the whole heap with it (Next's 57 MB take 25 ms of both cores) as soon as some such pieces have come together.
 */
export function free({ buffer, byteLength }: Uint8Array): void {
  // Small buffers are cut from one that they share, none of them all of it.
  const isAlone = byteLength === buffer.byteLength || buffer.byteLength > Buffer.poolSize;
  if (isAlone && buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
