import { once } from "node:events";
import { constants, createZstdCompress, type ZstdCompress, zstdCompressSync } from "node:zlib";

/** Level 1 makes a batch five times smaller, and storing it uncompressed takes longer. */
const params = { [constants.ZSTD_c_compressionLevel]: 1 };

/** Waking another thread takes longer than compressing these. */
const maxSyncBytes = 64 * 1024;

/** Each chunk costs a turn of the event loop. */
const maxChunkBytes = 1 << 20;

/** Compresses rows on a thread of Node's while this one reads the next traces. */
export class Packing {
  #parts: Buffer[] = [];
  #bytes = 0;
  #stream: ZstdCompress | undefined;
  #ended: Promise<unknown> | undefined;
  #drained: Promise<unknown> | undefined;
  readonly #chunks: Buffer[] = [];

  async add(rows: Buffer): Promise<void> {
    this.#parts.push(rows);
    this.#bytes += rows.byteLength;
    if (this.#bytes < maxChunkBytes) return;
    await this.#drained; // so that no more than two chunks are in memory
    this.#write();
  }

  #write(): void {
    const stream = this.#begin();
    if (!stream.write(Buffer.concat(this.#parts))) this.#drained = once(stream, "drain");
    this.#drained?.catch(() => {}); // thrown by the next call, or by `end`
    this.#parts = [];
    this.#bytes = 0;
  }

  #begin(): ZstdCompress {
    if (this.#stream) return this.#stream;
    const stream = createZstdCompress({ params, chunkSize: maxChunkBytes });
    stream.on("data", (chunk) => this.#chunks.push(chunk));
    this.#stream = stream;
    this.#ended = once(stream, "end");
    this.#ended.catch(() => {}); // likewise
    return stream;
  }

  async end(): Promise<Buffer> {
    if (!this.#stream && this.#bytes <= maxSyncBytes) return zstdCompressSync(Buffer.concat(this.#parts), { params });
    this.#write();
    this.#stream?.end();
    await this.#ended;
    return Buffer.concat(this.#chunks);
  }

  abandon(): void {
    this.#stream?.destroy();
  }
}
