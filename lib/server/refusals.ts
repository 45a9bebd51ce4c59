// Requests that the web server answers by itself: what Node's parser refuses, and what Next would answer without a request
// id or a problem's body. Next and the route handlers never see them.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { notFound, SpoorError } from "#lib/errors";
import { problemResponse } from "#lib/http/problem";
import { log } from "#lib/log";

const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Node's own limit, as a request over it is told. */
export const maxHeaderBytes = 16 * 1024;

export const isApi = (url = "") => /^\/api(?:[/?]|$)/.test(url);

const methodRefusal = (requestId: string) =>
  problemResponse(new SpoorError("method_not_allowed", "No path takes this method."), requestId, {
    Allow: knownMethods.join(", "),
  });

/** @returns undefined for a request that Next answers as the interface wants it. */
export function refusalOf(request: IncomingMessage, requestId: string, dev: boolean): Response | undefined {
  const { method = "", url = "", headers, httpVersion } = request;
  const missing = () => problemResponse(notFound(), requestId);
  if (!knownMethods.includes(method)) return methodRefusal(requestId);
  if (httpVersion === "1.1" && headers.host === undefined) {
    return problemResponse(new SpoorError("invalid_request", "The request has no Host header."), requestId);
  }
  if (url === "*") return missing();
  const [path = ""] = url.split("?");
  // Next has nothing under /_next/ but its static files; in development it has.
  if (!dev && path.startsWith("/_next/") && !path.startsWith("/_next/static/")) return missing();
  if (!isApi(url)) return undefined;
  // Next redirects to the path with one slash in the place of several, and to one without backslashes.
  return isDecodable(path) && !/\/\/|\\/.test(path) ? undefined : missing();
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** What Node's parser says of a request, as its `clientError` event has it. */
type ParserError = Error & { code?: string; rawPacket?: Buffer };

/** The answer to bytes that are no request, to a body that ended early, or to a head that took too long or is too large. */
function parserRefusal({ code, rawPacket }: ParserError, requestId: string): Response {
  // The parser knows some thirty methods and calls everything else wrong from its first letter on.
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
 * Answers what Node's parser refused, and closes the connection.
 *
 * @param answering the connection's response that is under way, if any: once its headers are sent, nothing can be said.
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

/** CONNECT asks for a tunnel: Node hands over its connection in the place of a response. */
export const refuseTunnel = (socket: Duplex, requestId: string) => writeRaw(methodRefusal(requestId), socket);

/** Writes a response on a bare connection and closes it. */
async function writeRaw(response: Response, socket: Duplex): Promise<void> {
  const { status, headers } = response;
  const body = Buffer.from(await response.arrayBuffer());
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...[...headers].map(([name, value]) => `${name}: ${value}`),
    `content-length: ${body.length}`,
    "connection: close",
  ];
  socket.on("error", () => {}); // whoever sends no HTTP may as well be gone
  socket.end(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]), () => socket.destroy());
}
