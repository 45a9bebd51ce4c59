import { SpoorError } from "#lib/errors";
import { arrivalOf } from "#lib/http/arrival";
import { withBlock } from "#lib/http/body-memory";
import { parseJson } from "#lib/json";
import { limits } from "#lib/limits";

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

/**
 * Reads a whole body as it is on the wire.
 *
 * @param maxBytes reading stops here, so an oversize body costs no more memory than this.
 * @throws SpoorError `payload_too_large` over the limit; `request_timeout` where it stalls or is too slow (`limits.body`);
 *   `invalid_request` where the connection ended early or the length is not the declared one.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  return (await receive(request, maxBytes)) as Buffer<ArrayBuffer>;
}

/**
 * Runs `work` with a whole body, whose memory is reused afterwards.
 *
 * @throws SpoorError as `readBody`; what `work` throws.
 */
export function withBody<T>(request: Request, maxBytes: number, work: (body: Buffer) => Promise<T>): Promise<T> {
  return withBlock(declaredLength(request, maxBytes), async (block) => work(await receive(request, maxBytes, block)));
}

async function receive(request: Request, maxBytes: number, block?: SharedArrayBuffer): Promise<Buffer> {
  const declared = declaredLength(request, maxBytes);
  const body = new GrowingBuffer(declared, block);
  const arrival = arrivalOf(request);
  const pace = startPace();
  let isOver = false;
  const take = (chunk: Uint8Array) => {
    if (isOver) return; // late chunks of an abandoned body must not be written: the memory is in use by another
    if (body.length + chunk.byteLength > maxBytes) throw tooLarge(maxBytes);
    body.append(chunk);
    pace.received(body.length);
  };
  try {
    const isWhole = await Promise.race([arrival.read(take), pace.failed]);
    if (!isWhole) throw new SpoorError("invalid_request", "The body ended before it was complete.");
  } catch (error) {
    const { code } = error as SpoorError;
    if (code === "payload_too_large") arrival.drain();
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

/** Chunks of any size, collected in one block of memory. */
class GrowingBuffer {
  #block: Buffer;
  length = 0;

  /**
   * @param expected the number of bytes, if known. Memory that is never written to costs nothing.
   * @param memory is used instead of new memory; it has to hold `expected` bytes.
   */
  constructor(expected = 64 * 1024, memory?: SharedArrayBuffer) {
    this.#block = memory ? Buffer.from(memory, 0, expected) : Buffer.allocUnsafeSlow(expected);
  }

  append(chunk: Uint8Array): void {
    const length = this.length + chunk.byteLength;
    if (length > this.#block.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#block.length * 2));
      this.#block.copy(larger, 0, 0, this.length);
      this.#block = larger;
    }
    this.#block.set(chunk, this.length);
    this.length = length;
  }

  /** The bytes, in memory that holds nothing else. */
  take(): Buffer {
    if (this.length === this.#block.length) return this.#block;
    const exact = Buffer.allocUnsafeSlow(this.length);
    this.#block.copy(exact, 0, 0, this.length);
    return exact;
  }
}

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
