import { type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { namesItsAddress, publicLookup } from "#lib/telemetry/addresses";

/** A signature covers exactly these bytes. */
export type Post = { url: string; headers: Record<string, string>; body: string | Uint8Array };

export type SinkAnswer = { status: number; retryAfterSeconds: number | undefined };

const maxAnswerHeaderBytes = 8 * 1024;

/**
 * @param options.timeoutMs for everything: DNS, connection, body, answer
 * @param options.allowPrivate allows host names with private addresses
 * @throws after the timeout, and `PrivateAddressError`
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
      // Errors of the rest of the request no longer matter.
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

/** RFC 9110, section 10.2.3. @returns seconds */
export function retryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value);
  const at = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}
