// Next renders pages without the request's signal and lets them set no status, so the request's state is kept here.
import { AsyncLocalStorage } from "node:async_hooks";
import { oncePerProcess } from "#lib/core/concurrency/once-per-process";

/** `signal` is aborted when the client is gone or the response was sent; `isOverloaded` makes the page a 503. */
export type RequestState = {
  readonly signal: AbortSignal;
  readonly requestId?: string;
  readonly address?: string;
  isOverloaded?: boolean;
  /** Next removes `Content-Encoding` from a route handler's response. */
  readonly declareEncoding?: (encoding: "gzip") => void;
};

const storage = oncePerProcess("request", () => new AsyncLocalStorage<RequestState>());

export const forRequest = <T>(state: RequestState, work: () => T): T => storage.run(state, work);

/** Returns undefined outside of requests. */
export const requestSignal = (): AbortSignal | undefined => storage.getStore()?.signal;

export const currentRequestId = (): string | undefined => storage.getStore()?.requestId;

/** Returns undefined where `currentRequestId` does. */
export const requestAddress = (): string | undefined => storage.getStore()?.address;

export function answerOverloaded(): void {
  const state = storage.getStore();
  if (state) state.isOverloaded = true;
}

/** @returns false where another server runs Next, which then compresses it */
export function declareGzip(): boolean {
  const state = storage.getStore();
  state?.declareEncoding?.("gzip");
  return state?.declareEncoding !== undefined;
}
