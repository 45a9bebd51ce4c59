import { oncePerProcess } from "#lib/concurrency/once-per-process";

/** Frees a large buffer at once: some tens of megabytes of external memory make V8 collect its whole heap. */
export function free({ buffer, byteLength }: Uint8Array): void {
  // Small buffers are slices of a shared pool.
  const ownsMemory = byteLength === buffer.byteLength || buffer.byteLength > Buffer.poolSize;
  if (ownsMemory && buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

const releases = oncePerProcess("releases of memory", () => new Set<() => unknown>());

/** Registers work that frees memory while the process is idle. */
export function atRest(release: () => unknown): void {
  releases.add(release);
}

export async function releaseAll(): Promise<void> {
  await Promise.all([...releases].map((release) => release()));
}
