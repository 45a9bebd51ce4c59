/**
 * A generator's chunks as a response body. Each chunk is produced when the previous one was read; cancelling the stream
 * ends the generator. If the generator throws, the stream ends early with an error.
 *
 * @param onError called with the reason when the stream ends early for another one than that its client is gone.
 * @param onEnd called once the stream has ended, however it did.
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
      // A generator that was never started runs none of its own `finally`.
      await chunks.return(undefined).finally(onEnd);
    },
  });
}
