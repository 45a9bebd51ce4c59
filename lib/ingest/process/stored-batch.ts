import "server-only";
import type { TraceHeader } from "#lib/ingest/decode/manifest";
import type { CopyPlan } from "#lib/ingest/decode/operations";
import type { Comparison, StoredHashes } from "#lib/ingest/decode/row-hashes";
import { type Decoder, decodeHere, smallBytes, withThread } from "#lib/ingest/decode/thread-pool";
import { readSmallUpload, readUpload } from "#lib/ingest/raw/stored-upload";
import type { MaskingPolicy } from "#lib/masking/masker";
import { readPolicy } from "#lib/masking/policy";

type OwnBytes = Uint8Array<ArrayBuffer>;

type QueuedUpload = { userId: string; jobId: string; bytes: number; isRepeat: boolean; machine?: string | null };

/** A repeated batch never needs its body decoded. */
export class StoredBatch {
  readonly #decoder: Decoder;
  readonly #upload: QueuedUpload;
  #body: Promise<OwnBytes | null> | undefined;
  #opened: Promise<void> | undefined;
  #policy: Promise<MaskingPolicy> | undefined;
  headers: TraceHeader[] = [];
  /** The upload is an earlier version's, or of another policy. */
  isStoredUnmasked = false;

  constructor(decoder: Decoder, upload: QueuedUpload) {
    this.#decoder = decoder;
    this.#upload = upload;
  }

  async begin(): Promise<void> {
    const { userId, bytes, isRepeat, machine } = this.#upload;
    this.#policy = readPolicy(userId, machine ?? undefined);
    this.#policy.catch(() => {});
    const reading = bytes <= smallBytes ? this.#readSmall() : this.#read("manifest");
    if (!isRepeat && bytes > smallBytes) this.#body = this.#read("body");
    this.#body?.catch(() => {}); // handled where the body is needed
    const packed = await reading;
    const { stamp } = await this.#policy;
    const headers = packed && (await this.#decoder.call("manifest", { packed, stamp }, [packed.buffer]));
    if (!headers) return this.open();
    this.headers = headers;
    if (!isRepeat) this.open().catch(() => {}); // likewise
  }

  open(): Promise<void> {
    this.#opened ??= (async () => {
      const stored = await (this.#body ?? this.#read("body"));
      if (!stored) throw new Error("an upload has no body");
      const policy = await this.#policy;
      const opened = await this.#decoder.call("open", { stored, policy }, [stored.buffer]);
      if (!opened) return;
      this.headers = opened.headers;
      this.isStoredUnmasked = opened.isMasked;
    })();
    return this.#opened;
  }

  #read(column: "body" | "manifest"): Promise<OwnBytes | null> {
    return readUpload(this.#upload.userId, this.#upload.jobId, column);
  }

  /** @returns the manifest */
  async #readSmall(): Promise<OwnBytes | null> {
    const { body, manifest } = await readSmallUpload(this.#upload.userId, this.#upload.jobId);
    this.#body = Promise.resolve(body);
    return manifest;
  }

  /** Tells by size and hash whether a batch's trace begins with the stored one. */
  async grown(stored: { index: number; bytes: number; hash: string }[]): Promise<boolean[]> {
    if (stored.length === 0) return [];
    await this.open();
    return this.#decoder.call("grown", stored);
  }

  async compare(stored: { index: number; stored: StoredHashes }[]): Promise<Comparison[]> {
    await this.open();
    return this.#decoder.call("compare", stored);
  }

  /** The next chunk is made while one is sent. */
  async *rows(plan: CopyPlan): AsyncGenerator<Buffer> {
    await this.open();
    let next = this.#decoder.call("copy", plan);
    for (;;) {
      const { bytes, isLast } = await next;
      if (!isLast) next = this.#decoder.call("copy", undefined);
      next.catch(() => {}); // handled in the next turn, unless sending fails first
      yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (isLast) return;
    }
  }
}

export async function withStoredBatch<T>(upload: QueuedUpload, work: (batch: StoredBatch) => Promise<T>): Promise<T> {
  const run = async (decoder: Decoder) => {
    const batch = new StoredBatch(decoder, upload);
    await batch.begin();
    return work(batch);
  };
  if (upload.bytes <= smallBytes) return run(decodeHere());
  return withThread(upload.userId, async (thread) => {
    const lent = lend(thread);
    try {
      return await run(lent.decoder);
    } finally {
      lent.takeBack();
      if (!thread.broken) await thread.call("close", undefined);
    }
  });
}

/** A read-ahead that finishes late must not reach the thread's next batch. */
function lend(thread: Decoder): { decoder: Decoder; takeBack: () => void } {
  let isLent = true;
  const decoder: Decoder = {
    call: (operation, input, transfer) =>
      isLent ? thread.call(operation, input, transfer) : Promise.reject(new Error("the decoding thread was returned")),
  };
  return {
    decoder,
    takeBack: () => {
      isLent = false;
    },
  };
}
