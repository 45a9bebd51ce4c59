// How a body arrives: by Node's own request where the web server is ours, by the web stream of the standard elsewhere.
import type { IncomingMessage } from "node:http";
import { limits } from "#lib/limits";
import { free } from "#lib/memory";

/** A body on its way. */
export type Arrival = {
  /**
   * Hands over each chunk until the last, and stops where `take` throws. The memory of a chunk is gone when `take` returns.
   *
   * @returns whether the body came to its end; false where the connection broke off. @throws what `take` throws
   */
  read(take: (chunk: Uint8Array) => void): Promise<boolean>;
  /**
   * Goes on receiving what a sender is still sending, for a while: one that is cut off at once never sees the answer, and
   * the next request on its connection would wait behind the rest.
   */
  drain(): void;
  /** Ends the connection, once the answer had time to leave. */
  giveUp(): void;
};

/** Set by the web server (lib/server/web.ts) on every request, whatever the client sent under this name. */
export const arrivalHeader = "x-spoor-arrival";

const globals = globalThis as typeof globalThis & {
  spoorArriving?: Map<string, IncomingMessage>;
  spoorUsers?: WeakMap<IncomingMessage, string>;
};

/** Remembers a request under the name that its header has, until it is answered. @returns what forgets it */
export function rememberArrival(name: string, message: IncomingMessage): () => void {
  globals.spoorArriving ??= new Map();
  const { spoorArriving } = globals;
  spoorArriving.set(name, message);
  return () => spoorArriving.delete(name);
}

/** Notes whose request it is, for the web server's log. */
export function noteUser(request: Request, userId: string): void {
  const message = globals.spoorArriving?.get(request.headers.get(arrivalHeader) ?? "");
  if (!message) return;
  globals.spoorUsers ??= new WeakMap();
  globals.spoorUsers.set(message, userId);
}

/** Whose request it is, as far as an API route found out. */
export function userOf(message: IncomingMessage): string | undefined {
  return globals.spoorUsers?.get(message);
}

/** The body of a request; nothing of it was read before. */
export function arrivalOf(request: Request): Arrival {
  const message = globals.spoorArriving?.get(request.headers.get(arrivalHeader) ?? "");
  // A web stream costs promises for every 64 KiB: with it, accepting 18 MB took 1.52 times as long as the bench's floor,
  // without it 1.39.
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
    giveUp: () => {
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
        // The sender is gone, which is as good an end as any.
      }
    },
    giveUp() {
      stopped = true;
      setTimeout(() => reader?.cancel().catch(() => {}), 1000).unref();
    },
  };
}
