/**
 * A generator's chunks as a response body. Each chunk is produced when the previous one was read; cancelling the stream
 * ends the generator. If the generator throws, the stream ends early with an error.
 *
 * @param onError called with the reason when the stream ends early.
 */
export function streamOf(
  chunks: AsyncGenerator<Uint8Array, undefined>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onError(error);
        controller.error(error);
      }
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}
