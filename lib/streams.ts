/**
 * What a generator gives, as the body of an answer: each part is made when the one before was taken, and a reader that goes
 * away ends the generator. The stream ends early, with an error, where the generator throws.
 *
 * @param onBreak is told why it ended early.
 */
export function streamOf(
  parts: AsyncGenerator<Uint8Array, undefined>,
  onBreak: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBreak(error);
        controller.error(error);
      }
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}
