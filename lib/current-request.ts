// The request that is being worked on: pages are rendered without its signal, and can't set a status.
import { AsyncLocalStorage } from "node:async_hooks";
import { oncePerProcess } from "#lib/concurrency/once-per-process";

/** `signal` is aborted when the client is gone or the response was sent; `isOverloaded` makes the page a 503. */
export type RequestState = {
  readonly signal: AbortSignal;
  readonly requestId?: string;
  readonly address?: string;
  isOverloaded?: boolean;
  /** Sets `Content-Encoding`, which Next removes from what a route handler returns. */
  readonly declareEncoding?: (encoding: "gzip") => void;
};

const storage = oncePerProcess("request", () => new AsyncLocalStorage<RequestState>());

export const forRequest = <T>(state: RequestState, work: () => T): T => storage.run(state, work);

/** Undefined outside of requests. */
export const requestSignal = (): AbortSignal | undefined => storage.getStore()?.signal;

/** Undefined outside of requests, and where another server than ours runs Next. */
export const currentRequestId = (): string | undefined => storage.getStore()?.requestId;

/** Undefined where `currentRequestId` is. */
export const requestAddress = (): string | undefined => storage.getStore()?.address;

/** Sends the current page as a 503, if the host allows it. */
export function answerOverloaded(): void {
  const state = storage.getStore();
  if (state) state.isOverloaded = true;
}

/** Declares the response's body as gzip. @returns false if another server runs Next, which then compresses it */
export function declareGzip(): boolean {
  const state = storage.getStore();
  state?.declareEncoding?.("gzip");
  return state?.declareEncoding !== undefined;
}
