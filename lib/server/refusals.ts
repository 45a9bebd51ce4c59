// Requests that never reach Next: what Node's parser refuses, and what Next would answer without a request id or a problem
// body.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { notFound, SpoorError } from "#lib/errors";
import { closedPolicy, securityHeaders } from "#lib/http/headers";
import { problemResponse } from "#lib/http/problem";
import { limits } from "#lib/limits";
import { log } from "#lib/log";

const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The limit of a request's headers: Node's own. */
export const maxHeaderBytes = 16 * 1024;

/** Names outside `/api` of routes of the API (next.config.ts). */
const otherNames = /^\/(?:mcp|\.well-known\/oauth-(?:protected-resource(?:\/mcp)?|authorization-server))(?:\?|$)/;

export const isApi = (url = "") => /^\/api(?:[/?]|$)/.test(url) || otherNames.test(url);

const methodRefusal = (requestId: string) =>
  problemResponse(new SpoorError("method_not_allowed", "No path takes this method."), requestId, {
    Allow: knownMethods.join(", "),
  });

/** The response to a page or a form where too many of its network wait. */
export const refuseBusy = (requestId: string) =>
  problemResponse(
    new SpoorError("overloaded", "Too many pages were asked for at once. Try again in a moment."),
    requestId,
  );

const { maxPageBodyBytes } = limits;

const tooLarge = (requestId: string) =>
  problemResponse(
    new SpoorError("payload_too_large", `A form is over the limit of ${maxPageBodyBytes} bytes.`),
    requestId,
  );

/** The response to a request that Next would not answer as the interface demands; undefined for any other. */
export function refusalOf(request: IncomingMessage, requestId: string, dev: boolean): Response | undefined {
  const { method = "", url = "", headers, httpVersion } = request;
  const missing = () => problemResponse(notFound(), requestId);
  if (!knownMethods.includes(method)) return methodRefusal(requestId);
  if (httpVersion === "1.1" && !hasHost(request)) {
    return problemResponse(new SpoorError("invalid_request", "The request has no Host header."), requestId);
  }
  if (url === "*") return missing();
  const [path = ""] = url.split("?");
  // Next would take them away and answer for another path than the one that is looked at here; clients do so themselves.
  if (/\/(?:\.|%2e){1,2}(?:[/\\#]|$)/i.test(path)) return missing();
  // In production Next has only static files under /_next/.
  if (!dev && path.startsWith("/_next/") && !path.startsWith("/_next/static/")) return missing();
  if (!isApi(url)) return Number(headers["content-length"] ?? 0) > maxPageBodyBytes ? tooLarge(requestId) : undefined;
  // Next would redirect to the path with single slashes and without backslashes.
  return isDecodable(path) && !/\/\/|\\/.test(path) ? undefined : missing();
}

/** By what was sent: lib/server/adopt.ts has to fill the header in. */
const hasHost = ({ rawHeaders }: IncomingMessage) =>
  rawHeaders.some((text, index) => index % 2 === 0 && text.toLowerCase() === "host");

function isDecodable(path: string): boolean {
  try {
    // Its result is used: a bundler leaves out the call of a pure function whose result is not, also where that throws.
    return decodeURIComponent(path) !== "";
  } catch {
    return false;
  }
}

/** An error of Node's HTTP parser, from its `clientError` event. */
type ParserError = Error & { code?: string; rawPacket?: Buffer };

/** The response to malformed bytes, a truncated body, or headers that are too slow or too large. */
function parserRefusal({ code, rawPacket }: ParserError, requestId: string): Response {
  // The parser knows about thirty methods; any other is an error to it, like bytes that are not HTTP.
  const isOtherMethod = code === "HPE_INVALID_METHOD" && /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1/.test(`${rawPacket}`);
  if (isOtherMethod) return methodRefusal(requestId);
  if (code === "HPE_HEADER_OVERFLOW") {
    const detail = `The request's headers are over the limit of ${maxHeaderBytes} bytes.`;
    return problemResponse(new SpoorError("payload_too_large", detail), requestId);
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return problemResponse(new SpoorError("request_timeout", "The request came too slowly."), requestId);
  }
  return problemResponse(new SpoorError("invalid_request", "The request is not whole, or not HTTP/1.1."), requestId);
}

/**
 * Answers a request that Node's parser refused, and closes the connection.
 *
 * @param answering the connection's response in flight, if any. Once its headers are sent, nothing can be answered.
 */
export function refuseUnparsed(error: ParserError, socket: Duplex, answering: ServerResponse | undefined, id: string) {
  if (!socket.writable || answering?.headersSent) {
    socket.destroy(error);
    return;
  }
  const response = parserRefusal(error, id);
  log.info({ requestId: id, status: response.status, reason: error.code }, "a request could not be parsed");
  writeRaw(response, socket);
}

/** For CONNECT Node provides the bare connection, no response. */
export const refuseTunnel = (socket: Duplex, requestId: string) => writeRaw(methodRefusal(requestId), socket);

/** Writes a response on a bare connection and closes it. */
async function writeRaw(response: Response, socket: Duplex): Promise<void> {
  const { status, headers } = response;
  const body = Buffer.from(await response.arrayBuffer());
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...[...headers, ...Object.entries(securityHeaders)].map(([name, value]) => `${name}: ${value}`),
    `content-security-policy: ${closedPolicy}`,
    `content-length: ${body.length}`,
    "connection: close",
  ];
  socket.on("error", () => {}); // the client may be gone
  socket.end(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]), () => socket.destroy());
}
