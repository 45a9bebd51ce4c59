import "server-only";
import { type Decoder, decodeHere, smallBytes, withThread } from "#lib/ingest/decode";
import type { TraceHeader } from "#lib/ingest/manifest";
import type { CopyPlan } from "#lib/ingest/operations";
import { readSmallUpload, readUpload } from "#lib/ingest/uploads";
import { limits } from "#lib/limits";

type OwnBytes = Uint8Array<ArrayBuffer>;

/**
 * A stored upload as its job reads it: what its traces are is known at once, from the manifest; the body is read and
 * decoded when the first message is asked for, which for a batch that came before is never.
 */
export class StoredBatch {
  readonly #decoder: Decoder;
  readonly #upload: { userId: string; jobId: string };
  #body: OwnBytes | undefined;
  #opened: Promise<void> | undefined;
  headers: TraceHeader[] = [];

  constructor(decoder: Decoder, upload: { userId: string; jobId: string }) {
    this.#decoder = decoder;
    this.#upload = upload;
  }

  /**
   * Reads the headers.
   *
   * @param upload.bytes its decoded size; `isRepeat` whether the same body came before: that of another is read ahead.
   * @throws SpoorError `not_found` where the upload is no longer kept.
   */
  async begin({ bytes, isRepeat }: { bytes: number; isRepeat: boolean }): Promise<void> {
    const packed = bytes <= smallBytes ? await this.#readSmall() : await this.#read("manifest");
    const headers = packed && (await this.#decoder.call("manifest", { packed }, [packed.buffer]));
    if (!headers) return this.open();
    this.headers = headers;
    if (!isRepeat) this.open().catch(() => {}); // is thrown where the body is needed
  }

  /** Reads and decodes the body, once. */
  open(): Promise<void> {
    this.#opened ??= (async () => {
      const stored = this.#body ?? (await this.#read("body"));
      if (!stored) throw new Error("an upload has no body");
      const input = { stored, maxBytes: limits.ingest.decodableBytes };
      this.headers = await this.#decoder.call("open", input, [stored.buffer]);
    })();
    return this.#opened;
  }

  #read(column: "body" | "manifest"): Promise<OwnBytes | null> {
    return readUpload(this.#upload.userId, this.#upload.jobId, column);
  }

  /** Reads everything at once. @returns the manifest */
  async #readSmall(): Promise<OwnBytes | null> {
    const { body, manifest } = await readSmallUpload(this.#upload.userId, this.#upload.jobId);
    this.#body = body;
    return manifest;
  }

  /**
   * For each stored trace, known by the size and hash of its messages' text, whether its messages are the first ones of
   * the batch's trace at `index`.
   */
  async grown(stored: { index: number; bytes: number; hash: string }[]): Promise<boolean[]> {
    if (stored.length === 0) return [];
    await this.open();
    return this.#decoder.call("grown", stored);
  }

  /** The COPY stream of a plan. */
  async *rows(plan: CopyPlan): AsyncGenerator<Buffer> {
    await this.open();
    for (let next: CopyPlan | undefined = plan; ; next = undefined) {
      const { bytes, isLast } = await this.#decoder.call("copy", next);
      yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (isLast) return;
    }
  }
}

/**
 * Runs `work` with a stored upload, a large one on a decoding thread of its own.
 *
 * @param upload.bytes its decoded size; `isRepeat` whether the same body came before.
 * @throws SpoorError `not_found`
 */
export async function withStoredBatch<T>(
  upload: { userId: string; jobId: string; bytes: number; isRepeat: boolean },
  work: (batch: StoredBatch) => Promise<T>,
): Promise<T> {
  const run = async (decoder: Decoder) => {
    const batch = new StoredBatch(decoder, upload);
    await batch.begin(upload);
    return work(batch);
  };
  if (upload.bytes <= smallBytes) return run(decodeHere());
  return withThread(upload.userId, async (thread) => {
    try {
      return await run(thread);
    } finally {
      if (!thread.broken) await thread.call("close", undefined);
    }
  });
}
