// Node's request where our web server runs, otherwise the web stream.
import type { IncomingMessage, ServerResponse } from "node:http";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { limits } from "#lib/core/limits";
import { free } from "#lib/core/memory";
import { requestIdHeader } from "#lib/http/headers";

export type Arrival = {
  /** Frees each chunk after `take`. @returns false if the connection broke off */
  read(take: (chunk: Uint8Array) => void): Promise<boolean>;
  /** A sender that is cut off never sees the response, and the next request on the connection waits. */
  drain(): void;
  /** Closes the connection a second later, when the response was sent. */
  close(): void;
};

const requests = oncePerProcess("requests", () => new Map<string, IncomingMessage>());
const users = oncePerProcess("users of requests", () => new WeakMap<IncomingMessage, string>());

export function rememberArrival(requestId: string, message: IncomingMessage): () => void {
  requests.set(requestId, message);
  return () => requests.delete(requestId);
}

const findMessage = (request: Request) => requests.get(request.headers.get(requestIdHeader) ?? "");

export function recordRequestUser(request: Request, userId: string): void {
  const message = findMessage(request);
  if (message) users.set(message, userId);
}

export function requestUser(message: IncomingMessage): string | undefined {
  return users.get(message);
}

export function signalEnd(response: ServerResponse): AbortSignal {
  const over = new AbortController();
  response.once("close", () => over.abort());
  return over.signal;
}

export function openArrival(request: Request): Arrival {
  const message = findMessage(request);
  // A web stream costs promises for every 64 KiB: with it, accepting 18 MB takes a tenth longer.
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
        // the sender is gone
      }
    },
    close() {
      stopped = true;
      setTimeout(() => reader?.cancel().catch(() => {}), 1000).unref();
    },
  };
}
