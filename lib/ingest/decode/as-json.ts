import { beginsWithMark, mark, parseManifest, type TraceHeader } from "#lib/ingest/decode/manifest";
import { endOfRow, readRow } from "#lib/ingest/decode/message-rows";
import type { BatchMessage } from "#lib/ingest/decode/normalize";

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Spoor 0.2 stored JSON. */
export async function* convertToJson(chunks: Chunks): AsyncGenerator<Uint8Array, undefined> {
  const body = new Joined(chunks);
  await body.take((bytes) => (bytes.length < mark.length ? undefined : 0));
  if (!beginsWithMark(body.bytes)) {
    yield* body.rest();
    return;
  }
  const line = await body.take((bytes) => {
    const end = bytes.indexOf("\n");
    return end < 0 ? undefined : end + 1;
  });
  const manifest = parseManifest(line);
  if (!manifest) throw new Error("a stored batch is of a later version");
  yield* writeJson(manifest.headers, body.rest());
}

/** Each piece costs a turn of the event loop. */
const maxPieceCharacters = 256 * 1024;

/** @param rows in chunks of any size */
export async function* writeJson(headers: readonly TraceHeader[], rows: Chunks): AsyncGenerator<Buffer, undefined> {
  let text = "";
  for await (const piece of writePieces(headers, new Joined(rows))) {
    text += piece;
    if (text.length < maxPieceCharacters) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

async function* writePieces(headers: readonly TraceHeader[], rows: Joined): AsyncGenerator<string> {
  let at = 0;
  yield '{"traces":[';
  for (const [index, header] of headers.entries()) {
    yield `${index === 0 ? "" : ","}${beginTrace(header)}`;
    for (let n = 0; n < header.messageCount; ) {
      const row = await rows.take((bytes) => endOfRow(bytes, 0));
      at += row.byteLength;
      if (at <= header.at) continue; // a later trace has the same key
      yield `${n === 0 ? "" : ","}${JSON.stringify(toSent(readRow(row, 0)))}`;
      n += 1;
    }
    yield "]}";
  }
  yield "]}";
}

function beginTrace({ source, sourceId, model, title, project, createdAt, metadata, replace, append }: TraceHeader) {
  const fields = {
    source,
    sourceId,
    model: model ?? undefined,
    title: title ?? undefined,
    project: project ?? undefined,
    createdAt: toText(createdAt),
    metadata: metadata === null ? undefined : JSON.parse(metadata),
    replace: replace || undefined,
    append: append === null ? undefined : { count: append },
  };
  return `${JSON.stringify(fields).slice(0, -1)},"messages":[`;
}

const toSent = ({ position, role, content, tokenCount, createdAt, metadata }: BatchMessage) => ({
  position,
  role: role ?? undefined,
  content,
  tokenCount: tokenCount ?? undefined,
  createdAt: toText(createdAt),
  metadata: metadata === null ? undefined : JSON.parse(metadata),
});

const toText = (milliseconds: number | null) =>
  milliseconds === null ? undefined : new Date(milliseconds).toISOString();

class Joined {
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  bytes: Buffer = Buffer.alloc(0);

  constructor(chunks: Chunks) {
    this.#chunks = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  }

  /** @param find how many bytes to take; undefined reads on */
  async take(find: (bytes: Buffer) => number | undefined): Promise<Buffer> {
    for (let wanted = this.bytes.length; ; wanted = 2 * this.bytes.length) {
      const end = find(this.bytes);
      if (end !== undefined) {
        const taken = this.bytes.subarray(0, end);
        this.bytes = this.bytes.subarray(end);
        return taken;
      }
      if (!(await this.#read(wanted + 1))) throw new Error("a stored batch ends too early");
    }
  }

  /** Doubling bounds how often many small chunks are joined. */
  async #read(wanted: number): Promise<boolean> {
    const parts: Uint8Array[] = [this.bytes];
    let length = this.bytes.length;
    while (length < wanted) {
      const { done, value } = await this.#chunks.next();
      if (done) break;
      parts.push(value);
      length += value.byteLength;
    }
    const hasMore = length > this.bytes.length;
    this.bytes = Buffer.concat(parts);
    return hasMore;
  }

  async *rest(): AsyncGenerator<Uint8Array, undefined> {
    yield this.bytes;
    for (;;) {
      const { done, value } = await this.#chunks.next();
      if (done) return;
      yield value;
    }
  }
}
