import { limits } from "#lib/core/limits";

const { sendSeconds, sendBytesPerSecond } = limits.pictures;

/** Small pieces show how fast the client reads. */
const sliceBytes = 64 * 1024;

type Sending = {
  isAwaited: () => boolean;
  /** Called once everything was taken, the client is gone, or it was too slow. */
  onEnd: () => void;
  seconds?: number;
};

/** Sends bytes as a response body that ends early if others wait and the client reads too slowly. */
export function sendAtPace(
  bytes: Uint8Array<ArrayBuffer>,
  { isAwaited, onEnd, seconds = sendSeconds }: Sending,
): ReadableStream<Uint8Array> {
  let at = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    clearInterval(timer);
    onEnd();
  };
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      let before = 0;
      timer = setInterval(() => {
        // Buffers on the way take the first megabytes at once, so the first interval does not count.
        const isSlow = at - before < seconds * sendBytesPerSecond;
        before = at;
        if (!isSlow || !isAwaited()) return;
        end();
        controller.error(new DOMException("The client reads too slowly.", "AbortError"));
      }, seconds * 1000).unref();
    },
    pull(controller) {
      controller.enqueue(bytes.subarray(at, at + sliceBytes));
      at += sliceBytes;
      if (at < bytes.byteLength) return;
      end();
      controller.close();
    },
    cancel: end,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}
