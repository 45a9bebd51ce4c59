// Sending a picture's bytes from memory, which is held meanwhile.
import { limits } from "#lib/limits";

const { sendSeconds, sendBytesPerSecond } = limits.pictures;

/** How much is handed to the connection at a time: what is taken shows how fast the client reads. */
const sliceBytes = 64 * 1024;

type Sending = {
  /** Whether anybody waits for the place that this holds. */
  isAwaited: () => boolean;
  /** Called once all was taken, nobody takes it any more, or it was too slow. */
  onEnd: () => void;
  /** How often that is looked at. */
  seconds?: number;
};

/** Bytes as a response body that breaks off where others wait and its client has lately taken too little of it. */
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
        // Not since its start: buffers on the way take the first megabytes at once.
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
