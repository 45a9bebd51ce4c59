import { type ClientRequest, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { namesItsAddress, publicLookup } from "#lib/telemetry/addresses";

/** A request to a sink, whole: what is signed are these very bytes. */
export type Post = { url: string; headers: Record<string, string>; body: string | Uint8Array };

/** What a sink said: its status, and the seconds after which it wants the next request, where it told any. */
export type SinkAnswer = { status: number; retryAfterSeconds: number | undefined };

const maxAnswerHeaderBytes = 8 * 1024;

/**
 * Sends one POST. No redirect is followed, no proxy of the environment is asked, and nothing of the answer's body is read:
 * its status says it all, and the connection is closed behind it.
 *
 * @param options.timeoutMs for everything: the name, the connection, the body, the answer.
 * @param options.allowPrivate whether a name may lead to a private address; one that the URL itself names always may.
 * @throws where no answer came in time, and `PrivateAddressError`.
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
      // The rest of the request may still be on its way; what becomes of it changes nothing any more.
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

/** The seconds that a `Retry-After` tells (RFC 9110, 10.2.3): a number of them, or a date. */
export function retryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value);
  const at = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}
