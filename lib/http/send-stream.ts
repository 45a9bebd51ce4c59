import "server-only";
import { log } from "#lib/core/log";
import { beginRead } from "#lib/db/heavy";

/**
 * Cancelling the stream ends the generator.
 * @param onError gets an error, unless the client is gone
 * @param onEnd is called in any case
 */
export function streamChunks(
  chunks: AsyncGenerator<Uint8Array, undefined>,
  onError: (error: unknown) => void,
  onEnd = () => {},
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (!done) return controller.enqueue(value);
        onEnd();
        controller.close();
      } catch (error) {
        onEnd();
        if ((error as Error).name !== "AbortError") onError(error);
        controller.error(error);
      }
    },
    async cancel() {
      // A generator that was never started does not run its `finally`.
      await chunks.return(undefined).finally(onEnd);
    },
  });
}

/**
 * Counts as an export until the stream ends. The first chunk is computed before anything is sent, so that a slow one
 * still gets its status.
 * @throws SpoorError `overloaded` as `beginRead`, and errors of the first chunk
 */
export async function sendChunks(
  userId: string,
  kind: "export" | "answer",
  chunks: AsyncGenerator<Uint8Array, undefined>,
): Promise<ReadableStream<Uint8Array>> {
  const end = await beginRead(userId, kind);
  try {
    const resumed = resume(await chunks.next(), chunks);
    return streamChunks(resumed, (error) => log.warn({ err: error }, `an ${kind} failed`), end);
  } catch (error) {
    end();
    throw error;
  }
}

export const sendText = (userId: string, kind: "export" | "answer", texts: AsyncGenerator<string, undefined>) =>
  sendChunks(userId, kind, encoded(texts));

async function* resume<T>(first: IteratorResult<T, undefined>, rest: AsyncGenerator<T, undefined>) {
  if (first.done) return undefined;
  yield first.value;
  return yield* rest;
}

async function* encoded(texts: AsyncGenerator<string, undefined>): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}
