// Reading a body: from Node's request where our web server runs, from the web stream elsewhere.
import type { IncomingMessage, ServerResponse } from "node:http";
import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { requestIdHeader } from "#lib/http/request-id";
import { limits } from "#lib/limits";
import { free } from "#lib/memory";

/** A body that is being received. */
export type Arrival = {
  /**
   * Calls `take` with each chunk, whose memory is freed when `take` returns.
   *
   * @returns false where the connection broke off before the end. @throws what `take` throws, and stops reading
   */
  read(take: (chunk: Uint8Array) => void): Promise<boolean>;
  /**
   * Reads and discards the rest for a few seconds: a sender that is cut off never sees the response, and the next request
   * on the connection waits behind the rest.
   */
  drain(): void;
  /** Closes the connection a second later, when the response was sent. */
  close(): void;
};

const requests = oncePerProcess("requests", () => new Map<string, IncomingMessage>());
const users = oncePerProcess("users of requests", () => new WeakMap<IncomingMessage, string>());

/** Keeps Node's request under its id until it is answered. @returns what forgets it */
export function rememberArrival(requestId: string, message: IncomingMessage): () => void {
  requests.set(requestId, message);
  return () => requests.delete(requestId);
}

/** Node's request behind a web request; undefined where another server than ours runs Next. */
const findMessage = (request: Request) => requests.get(request.headers.get(requestIdHeader) ?? "");

/** Records which user a request belongs to, for the access log. */
export function recordRequestUser(request: Request, userId: string): void {
  const message = findMessage(request);
  if (message) users.set(message, userId);
}

/** The user that a route handler recorded for a request. */
export function requestUser(message: IncomingMessage): string | undefined {
  return users.get(message);
}

/** Aborted when a request is over: its client is gone, or the response was sent. */
export function signalEnd(response: ServerResponse): AbortSignal {
  const over = new AbortController();
  response.once("close", () => over.abort());
  return over.signal;
}

/** The body of a request; nothing of it was read before. */
export function openArrival(request: Request): Arrival {
  const message = findMessage(request);
  // A web stream costs promises for every 64 KiB: accepting 18 MB took 1.52 times the bench's floor with it, 1.39 without.
  return message ? arrivalByNode(message) : arrivalByStream(request.body);
}

function arrivalByNode(message: IncomingMessage): Arrival {
  return {
    read: (take) =>
      new Promise<boolean>((resolve, reject) => {
        const stop = () => {
          message.off("data", onData).off("end", onEnd).off("error", onBreak).off("close", onBreak);
        };
        const onData = (chunk: Buffer) => {
          try {
            take(chunk);
            free(chunk);
          } catch (error) {
            stop();
            reject(error);
          }
        };
        const onEnd = () => {
          stop();
          resolve(true);
        };
        const onBreak = () => {
          stop();
          resolve(false);
        };
        if (message.destroyed && !message.readableEnded) return resolve(false);
        message.on("data", onData).once("end", onEnd).once("error", onBreak).once("close", onBreak);
      }),
    drain: () => {
      message.on("error", () => {}).resume();
      const timer = setTimeout(() => message.destroy(), limits.body.drainSeconds * 1000).unref();
      message.once("close", () => clearTimeout(timer)).once("end", () => clearTimeout(timer));
    },
    close: () => {
      message.on("error", () => {});
      setTimeout(() => message.destroy(), 1000).unref();
    },
  };
}

function arrivalByStream(body: ReadableStream<Uint8Array> | null): Arrival {
  const reader = body?.getReader();
  let stopped = false;
  return {
    async read(take) {
      while (reader && !stopped) {
        const next = await reader.read().catch(() => undefined);
        if (!next) return false;
        if (next.done) break;
        take(next.value);
      }
      return true;
    },
    async drain() {
      const deadline = performance.now() + limits.body.drainSeconds * 1000;
      try {
        while (reader && performance.now() < deadline) if ((await reader.read()).done) return;
        await reader?.cancel();
      } catch {
        // The sender is gone.
      }
    },
    close() {
      stopped = true;
      setTimeout(() => reader?.cancel().catch(() => {}), 1000).unref();
    },
  };
}
