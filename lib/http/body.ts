import { SpoorError } from "#lib/errors";
import { openArrival } from "#lib/http/arrival";
import { withBlock } from "#lib/http/body-memory";
import { parseJson } from "#lib/json";
import { limits } from "#lib/limits";
import { free } from "#lib/memory";

/** @throws SpoorError `unsupported_media_type` where the body is not declared as JSON */
export function requireJsonType(request: Request): void {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new SpoorError("unsupported_media_type");
  }
}

/** The declared length of a body in bytes, or undefined for a chunked one. @throws SpoorError where it is over `maxBytes` */
export function declaredLength(request: Request, maxBytes: number): number | undefined {
  const header = request.headers.get("content-length");
  if (header === null) return undefined;
  const length = Number(header);
  if (length > maxBytes) throw tooLarge(maxBytes);
  return length;
}

/** What a body may hold of its process's memory while it arrives, and until its request is answered. */
export type Room = {
  /** Takes so much in all. @throws what the request is to be answered with where there is not as much */
  grow(bytes: number): void;
  /** All of the body has arrived. */
  complete(): void;
  /** Rejects where the body has to leave its room to others. */
  ended: Promise<never>;
};

/**
 * Reads a whole body as it is on the wire.
 *
 * @param maxBytes reading stops here, so an oversize body costs no more memory than this.
 * @throws SpoorError `payload_too_large` over the limit; `request_timeout` where it stalls or is too slow (`limits.body`);
 *   `invalid_request` where the connection ended early or the length is not the declared one; `overloaded` by the room.
 */
export async function readBody(request: Request, maxBytes: number, room?: Room): Promise<Buffer<ArrayBuffer>> {
  return (await receive(request, maxBytes, { room })) as Buffer<ArrayBuffer>;
}

/**
 * Runs `work` with a whole body, whose memory is reused afterwards.
 *
 * @throws SpoorError as `readBody`; what `work` throws.
 */
export function withBody<T>(
  request: Request,
  maxBytes: number,
  work: (body: Buffer) => Promise<T>,
  room?: Room,
): Promise<T> {
  const declared = declaredLength(request, maxBytes);
  return withBlock(declared, async (block) => work(await receive(request, maxBytes, { block, room })));
}

type Memory = { block?: SharedArrayBuffer | undefined; room?: Room | undefined };

async function receive(request: Request, maxBytes: number, { block, room }: Memory): Promise<Buffer> {
  const declared = declaredLength(request, maxBytes);
  const body = new GrowingBuffer(declared, block);
  const arrival = openArrival(request);
  const pace = startPace();
  let isOver = false;
  const take = (chunk: Uint8Array) => {
    if (isOver) return; // late chunks of an abandoned body must not be written: the memory is in use by another
    if (body.length + chunk.byteLength > maxBytes) throw tooLarge(maxBytes);
    room?.grow(body.length + chunk.byteLength);
    body.append(chunk);
    pace.received(body.length);
  };
  try {
    const isWhole = await Promise.race([arrival.read(take), pace.failed, ...(room ? [room.ended] : [])]);
    if (!isWhole) throw new SpoorError("invalid_request", "The body ended before it was complete.");
    room?.complete();
  } catch (error) {
    body.discard();
    const { code } = error as SpoorError;
    if (code === "payload_too_large" || code === "overloaded") arrival.drain();
    else if (code === "request_timeout") arrival.close();
    throw error;
  } finally {
    isOver = true;
    pace.stop();
  }
  const bytes = body.length;
  if (declared !== undefined && declared !== bytes) {
    throw new SpoorError("invalid_request", `The body has ${bytes} bytes, its Content-Length says ${declared}.`);
  }
  return body.take();
}

/**
 * Reads a small JSON body.
 *
 * @throws SpoorError as `readBody`; `unsupported_media_type`, `unsupported_encoding`, `invalid_json`.
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  return (await readMeasuredJson(request, maxBytes)).value;
}

/** As `readJson`, with the number of bytes that were read. */
export async function readMeasuredJson(request: Request, maxBytes: number): Promise<{ value: unknown; bytes: number }> {
  requireJsonType(request);
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding && encoding !== "identity") {
    throw new SpoorError("unsupported_encoding");
  }
  const body = await readBody(request, maxBytes);
  return { value: parseJson(body), bytes: body.byteLength };
}

/** Chunks of any size, collected in one block of memory that grows with them. */
class GrowingBuffer {
  #block: Buffer;
  readonly #maxBytes: number;
  length = 0;

  /**
   * @param declared the number of bytes, if known.
   * @param memory is used instead of new memory; it has to hold the declared bytes.
   */
  constructor(declared?: number, memory?: SharedArrayBuffer) {
    this.#maxBytes = declared ?? Number.POSITIVE_INFINITY;
    this.#block = memory
      ? Buffer.from(memory, 0, declared)
      : Buffer.allocUnsafeSlow(Math.min(declared ?? firstBytes.ofUnknown, firstBytes.ofDeclared));
  }

  append(chunk: Uint8Array): void {
    const length = this.length + chunk.byteLength;
    if (length > this.#block.length) {
      this.#moveTo(Math.max(length, Math.min(this.#block.length * 2, this.#maxBytes)));
    }
    this.#block.set(chunk, this.length);
    this.length = length;
  }

  /** The bytes, in memory that holds nothing else. */
  take(): Buffer {
    if (this.length < this.#block.length) this.#moveTo(this.length);
    return this.#block;
  }

  /** Frees the memory, but not that which was given. */
  discard(): void {
    free(this.#block);
  }

  #moveTo(bytes: number): void {
    const former = this.#block;
    this.#block = Buffer.allocUnsafeSlow(bytes);
    former.copy(this.#block, 0, 0, this.length);
    free(former);
  }
}

/** How much memory a body gets at first: a sender may declare more than it sends. */
const firstBytes = { ofUnknown: 64 * 1024, ofDeclared: 1024 * 1024 };

function tooLarge(maxBytes: number): SpoorError {
  return new SpoorError("payload_too_large", `The body is over the limit of ${maxBytes} bytes.`);
}

/** Watches the pace of a body: `failed` rejects where the sender stalls or is too slow. */
function startPace() {
  const { maxIdleSeconds, graceSeconds, minBytesPerSecond } = limits.body;
  const startedAt = performance.now();
  let lastAt = startedAt;
  let total = 0;
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const timer = setInterval(() => {
    const now = performance.now();
    const seconds = (now - startedAt) / 1000;
    const stalled = now - lastAt > maxIdleSeconds * 1000;
    const tooSlow = seconds > graceSeconds && total / seconds < minBytesPerSecond;
    if (stalled || tooSlow) reject(new SpoorError("request_timeout"));
  }, 1000);
  return {
    failed,
    received(bytes: number) {
      total = bytes;
      lastAt = performance.now();
    },
    stop: () => clearInterval(timer),
  };
}
