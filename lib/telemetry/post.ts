import { type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { namesItsAddress, publicLookup } from "#lib/telemetry/addresses";

/** A complete request to a sink; a signature covers exactly these bytes. */
export type Post = { url: string; headers: Record<string, string>; body: string | Uint8Array };

/** A sink's answer: its status, and the seconds of its `Retry-After`, if any. */
export type SinkAnswer = { status: number; retryAfterSeconds: number | undefined };

const maxAnswerHeaderBytes = 8 * 1024;

/**
 * Sends one POST. Follows no redirect, uses no proxy from the environment, and closes the connection without reading the
 * answer's body.
 *
 * @param options.timeoutMs for everything: DNS, connection, body, answer.
 * @param options.allowPrivate whether a host name may resolve to a private address; an address in the URL itself always may.
 * @throws if no answer arrives in time, and `PrivateAddressError`.
 */
export function post(
  { url, headers, body }: Post,
  options: { timeoutMs: number; allowPrivate: boolean; resolve?: Parameters<typeof publicLookup>[0] },
): Promise<SinkAnswer> {
  const target = new URL(url);
  const guarded = !options.allowPrivate && !namesItsAddress(target);
  const bytes = Buffer.from(body);
  const settings: RequestOptions = {
    method: "POST",
    agent: false,
    maxHeaderSize: maxAnswerHeaderBytes,
    headers: { ...headers, "User-Agent": "Spoor", "Content-Length": bytes.length },
    ...(guarded && { lookup: publicLookup(options.resolve) }),
  };
  return new Promise((resolve, reject) => {
    const request: ClientRequest = (target.protocol === "https:" ? httpsRequest : httpRequest)(target, settings);
    const timer = setTimeout(() => request.destroy(new Error("the sink did not answer in time")), options.timeoutMs);
    request.once("close", () => clearTimeout(timer));
    request.once("response", (response) => {
      // The rest of the request may still be in flight; its errors no longer matter.
      resolve({
        status: response.statusCode ?? 0,
        retryAfterSeconds: retryAfter(response.headers["retry-after"], Date.now()),
      });
      response.destroy();
    });
    request.on("error", reject);
    request.end(bytes);
  });
}

/** Parses `Retry-After` (RFC 9110, 10.2.3), a number of seconds or a date. @returns seconds */
export function retryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value);
  const at = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}
