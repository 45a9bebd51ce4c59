// What is known of the request that is being worked on, wherever its work is: pages are rendered without its signal, and can
// set no status.
import { AsyncLocalStorage } from "node:async_hooks";
import { oncePerProcess } from "#lib/concurrency/once-per-process";

/**
 * `signal` is aborted when the client is gone or the response was sent; `address` is the client's; `isOverloaded` makes its
 * page a 503.
 */
export type RequestState = {
  readonly signal: AbortSignal;
  readonly requestId?: string;
  readonly address?: string;
  isOverloaded?: boolean;
  /** Sets the response's `Content-Encoding`, a header that Next takes out of what a route handler returns. */
  readonly declareEncoding?: (encoding: "gzip") => void;
};

const storage = oncePerProcess("request", () => new AsyncLocalStorage<RequestState>());

/** Runs `work`, and all that it starts, for a request. */
export const forRequest = <T>(state: RequestState, work: () => T): T => storage.run(state, work);

/** Aborted when the current request is over: its client is gone, or its response was sent; undefined outside of requests. */
export const requestSignal = (): AbortSignal | undefined => storage.getStore()?.signal;

/** The current request's id; undefined outside of requests, and where another server than ours runs Next. */
export const currentRequestId = (): string | undefined => storage.getStore()?.requestId;

/** The address that the current request came from; undefined where `currentRequestId` is. */
export const requestAddress = (): string | undefined => storage.getStore()?.address;

/** Has the current request's page sent as a 503, as far as the host lets it: for what took too long. */
export function answerOverloaded(): void {
  const state = storage.getStore();
  if (state) state.isOverloaded = true;
}

/** Declares the current response's body as compressed. @returns false where another server runs Next, which then compresses it */
export function declareGzip(): boolean {
  const state = storage.getStore();
  state?.declareEncoding?.("gzip");
  return state?.declareEncoding !== undefined;
}
