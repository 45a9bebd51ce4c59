import "server-only";
import { SpoorError } from "#lib/errors";
import { type DecodeThread, withThread } from "#lib/ingest/decode";
import type { TraceHeader } from "#lib/ingest/manifest";
import type { CopyPlan } from "#lib/ingest/thread";
import { readUpload } from "#lib/ingest/uploads";
import { limits } from "#lib/limits";

/**
 * A stored upload as its job reads it: what its traces are is known at once, from the manifest; the body is read and
 * decoded when the first message is asked for, which for a batch that came before is never.
 */
export class StoredBatch {
  readonly #thread: DecodeThread;
  readonly #upload: { userId: string; jobId: string };
  #opened: Promise<void> | undefined;
  headers: TraceHeader[] = [];

  constructor(thread: DecodeThread, upload: { userId: string; jobId: string }) {
    this.#thread = thread;
    this.#upload = upload;
  }

  /**
   * Reads the headers.
   *
   * @param isRepeat whether the same body came before; the body of another is read ahead.
   * @throws SpoorError `not_found` where the upload is no longer kept.
   */
  async begin(isRepeat: boolean): Promise<void> {
    const packed = await readUpload(this.#upload.userId, this.#upload.jobId, "manifest");
    const headers = packed && (await this.#thread.call("manifest", { packed }, [packed.buffer]));
    if (!headers) return this.open();
    this.headers = headers;
    if (!isRepeat) this.open().catch(() => {}); // is thrown where the body is needed
  }

  /** Reads and decodes the body, once. */
  open(): Promise<void> {
    this.#opened ??= (async () => {
      const stored = await readUpload(this.#upload.userId, this.#upload.jobId, "body");
      if (!stored) throw new SpoorError("not_found", "The upload is no longer kept. Send it again.");
      const input = { stored, maxBytes: limits.ingest.decodableBytes };
      this.headers = await this.#thread.call("open", input, [stored.buffer]);
    })();
    return this.#opened;
  }

  /**
   * For each stored trace, known by the size and hash of its messages' text, whether its messages are the first ones of
   * the batch's trace at `index`.
   */
  async grown(stored: { index: number; bytes: number; hash: string }[]): Promise<boolean[]> {
    if (stored.length === 0) return [];
    await this.open();
    return this.#thread.call("grown", stored);
  }

  /** The COPY stream of a plan. */
  async *rows(plan: CopyPlan): AsyncGenerator<Buffer> {
    await this.open();
    await this.#thread.call("plan", plan);
    for (;;) {
      const chunks = await this.#thread.call("copy", undefined);
      if (chunks.length === 0) return;
      for (const chunk of chunks) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    }
  }
}

/** Runs `work` with a stored upload, on a decoding thread of its own. @throws SpoorError `not_found` */
export function withStoredBatch<T>(
  upload: { userId: string; jobId: string; isRepeat: boolean },
  work: (batch: StoredBatch) => Promise<T>,
): Promise<T> {
  return withThread(async (thread) => {
    try {
      const batch = new StoredBatch(thread, upload);
      await batch.begin(upload.isRepeat);
      return await work(batch);
    } finally {
      if (!thread.broken) await thread.call("close", undefined);
    }
  });
}
