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
