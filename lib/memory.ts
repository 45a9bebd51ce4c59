import { oncePerProcess } from "#lib/concurrency/once-per-process";

/**
 * Frees a large buffer that is no longer used, without waiting for the garbage collector: once some tens of megabytes of
 * external memory add up, V8 collects its whole heap (Next's 57 MB take 25 ms of both cores).
 */
export function free({ buffer, byteLength }: Uint8Array): void {
  // Small buffers are slices of a shared pool, which must not be freed under the others.
  const ownsMemory = byteLength === buffer.byteLength || buffer.byteLength > Buffer.poolSize;
  if (ownsMemory && buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

const releases = oncePerProcess("releases of memory", () => new Set<() => unknown>());

/** Registers what gives memory back while the process has nothing to do, such as ending idle threads. */
export function atRest(release: () => unknown): void {
  releases.add(release);
}

/** Gives back what was registered. */
export async function releaseAll(): Promise<void> {
  await Promise.all([...releases].map((release) => release()));
}
