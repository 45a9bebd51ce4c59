import { SpoorError } from "#lib/core/errors";
import { parseJson } from "#lib/core/json";
import { limits } from "#lib/core/limits";
import { free } from "#lib/core/memory";
import { openArrival } from "#lib/http/arrival";
import { withBlock } from "#lib/http/body-memory";

export function requireJsonType(request: Request): void {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new SpoorError("unsupported_media_type");
  }
}

export function requireIdentity(request: Request): void {
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase();
  if (encoding && encoding !== "identity") {
    throw new SpoorError("unsupported_encoding");
  }
}

/** @throws SpoorError over `maxBytes` */
export function declaredLength(request: Request, maxBytes: number): number | undefined {
  const header = request.headers.get("content-length");
  if (header === null) return undefined;
  const length = Number(header);
  if (length > maxBytes) throw tooLarge(maxBytes);
  return length;
}

export type Room = {
  grow(bytes: number): void;
  /** All of the body has arrived. */
  complete(): void;
  /** Rejects if the body has to be dropped for others. */
  ended: Promise<never>;
};

/** @throws SpoorError `payload_too_large`, `request_timeout`, `invalid_request`, or `overloaded` by the budget */
export async function readBody(request: Request, maxBytes: number, room?: Room): Promise<Buffer<ArrayBuffer>> {
  return (await receive(request, maxBytes, { room })) as Buffer<ArrayBuffer>;
}

/** The body's memory is reused afterwards. */
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
    if (isOver) return; // a late chunk of an abandoned body would overwrite another's
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
    throw new SpoorError("invalid_request", `The body has ${bytes} bytes, but its Content-Length is ${declared}.`);
  }
  return body.take();
}

/**
 * Reads a small JSON body.
 * @throws SpoorError as `readBody`; `unsupported_media_type`, `unsupported_encoding`, `invalid_json`
 */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  return (await readMeasuredJson(request, maxBytes)).value;
}

export async function readMeasuredJson(request: Request, maxBytes: number): Promise<{ value: unknown; bytes: number }> {
  requireJsonType(request);
  requireIdentity(request);
  const body = await readBody(request, maxBytes);
  return { value: parseJson(body), bytes: body.byteLength };
}

class GrowingBuffer {
  #block: Buffer;
  readonly #maxBytes: number;
  length = 0;

  /** @param memory for the declared bytes; by default new memory */
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

  take(): Buffer {
    if (this.length < this.#block.length) this.#moveTo(this.length);
    return this.#block;
  }

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

/** A sender may declare more than it sends. */
const firstBytes = { ofUnknown: 64 * 1024, ofDeclared: 1024 * 1024 };

function tooLarge(maxBytes: number): SpoorError {
  return new SpoorError("payload_too_large", `The body is over the limit of ${maxBytes} bytes.`);
}

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
