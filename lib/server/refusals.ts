// Requests that never reach Next: what Node's parser refuses, and what Next would answer without a request id or a problem
// body.
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { parseAndValidateFlightRouterState } from "next/dist/server/app-render/parse-and-validate-flight-router-state.js";
import { notFound, SpoorError } from "#lib/errors";
import { closedPolicy, securityHeaders } from "#lib/http/headers";
import { problemResponse } from "#lib/http/problem";
import { limits } from "#lib/limits";
import { log } from "#lib/log";

const knownMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The limit of a request's headers. */
export const maxHeaderBytes = limits.request.headerBytes;

/** Names outside `/api` of routes of the API (next.config.ts). */
const otherNames = /^\/(?:mcp|\.well-known\/oauth-(?:protected-resource(?:\/mcp)?|authorization-server))(?:\?|$)/;

export const isApi = (url = "") => /^\/api(?:[/?]|$)/.test(url) || otherNames.test(url);

const methodRefusal = (requestId: string, detail?: string, allow = knownMethods.join(", ")) =>
  problemResponse(new SpoorError("method_not_allowed", detail), requestId, { Allow: allow });

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

/** Tells the paths of static files. */
type Files = { has(path: string): boolean };

/**
 * The response to a request that Next would not answer as the interface demands; undefined for any other.
 *
 * @param files the paths of static files; undefined in development, where Next has paths of its own
 */
export function refusalOf(request: IncomingMessage, requestId: string, files: Files | undefined): Response | undefined {
  const { method = "", url = "", headers, httpVersion } = request;
  const missing = () => problemResponse(notFound(), requestId);
  if (!knownMethods.includes(method)) return methodRefusal(requestId);
  const hosts = countHosts(request);
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
    const detail = `The request has ${hosts || "no"} Host header${hosts ? "s" : ""}.`;
    return problemResponse(new SpoorError("invalid_request", detail), requestId);
  }
  if (url === "*") return missing();
  if (!url.startsWith("/")) {
    return problemResponse(new SpoorError("invalid_request", "The request is for another kind of URL."), requestId);
  }
  const [path = ""] = url.split("?");
  // Next would take them away and answer for another path than the one that is looked at here; clients do so themselves.
  if (/\/(?:\.|%2e){1,2}(?:[/\\#]|$)/i.test(path)) return missing();
  // A page of Next's would be a 500.
  if (decoded(path) === undefined) return missing();
  // Next reads a parameter that is repeated in a time that grows with the square of how often it is.
  if (url.split("&").length > limits.request.parameters) {
    const detail = `The URL has more than ${limits.request.parameters} parameters.`;
    return problemResponse(new SpoorError("invalid_request", detail), requestId);
  }
  // In production Next has only static files under /_next/.
  if (files && path.startsWith("/_next/") && !path.startsWith("/_next/static/")) return missing();
  // Pages that Next renders by itself, one of them always with 500.
  if (files && /^\/_(?!next(?:\/|$))/.test(fileName(path))) return missing();
  // Next would redirect to the path with single slashes and without backslashes.
  if (isApi(url)) return /\/\/|\\/.test(path) ? missing() : undefined;
  if (Number(headers["content-length"] ?? 0) > maxPageBodyBytes) return tooLarge(requestId);
  if (!hasRouterState(request)) {
    const detail = "Next-Router-State-Tree is not as this application's pages send it.";
    return problemResponse(new SpoorError("invalid_request", detail), requestId);
  }
  const methods = files && methodsOf(path, files);
  if (!methods || methods.includes(method)) return undefined;
  const allow = methods.join(", ");
  return methodRefusal(requestId, `This path takes ${allow}.`, allow);
}

/** A path as a static file has it, however it is written. */
export const fileName = (path: string): string => (decoded(path) ?? path).replace(/\/$/, "");

/**
 * The methods of what is not of the API: Next would answer others with a page as for GET, with 400, or with 500. Undefined for
 * what answers them itself.
 */
function methodsOf(path: string, files: Files): string[] | undefined {
  const name = fileName(path);
  if (files.has(name)) return ["GET", "HEAD"];
  // A route handler, and files that are missing.
  if (/^\/(?:spoor\.mjs$|_next\/)/.test(name)) return undefined;
  return ["GET", "HEAD", "POST"]; // a page; a form is sent to it
}

/** Whether the header with which Next's client says what it shows can be read: Next would answer any other with 500. */
function hasRouterState({ headers }: IncomingMessage): boolean {
  try {
    parseAndValidateFlightRouterState(headers["next-router-state-tree"]);
    return true;
  } catch {
    return false;
  }
}

/** There is one (RFC 9112, section 3.2). By what was sent: lib/server/adopt.ts has to fill the header in. */
const countHosts = ({ rawHeaders }: IncomingMessage): number =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host").length;

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** An error of Node's HTTP parser, from its `clientError` event: in `rawPacket`, the bytes before `bytesParsed` were no fault. */
type ParserError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number };

/** The response to malformed bytes, a truncated body, or headers that are too slow or too large. */
function parserRefusal({ code, rawPacket, bytesParsed }: ParserError, requestId: string): Response {
  // The parser knows about thirty methods; any other is an error to it, like bytes that are not HTTP. It stops at the letter
  // with which no method of its own goes on.
  const isOtherMethod =
    code === "HPE_INVALID_METHOD" && /^[\w!#$%&'*+.^`|~-]* \S+ HTTP\/1/.test(`${rawPacket?.subarray(bytesParsed)}`);
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

/** Connections that get their last response. */
const closing = new WeakSet<Duplex>();

/**
 * Answers what Node's parser refused on a connection, and closes that. A request that has come whole may have an effect, so it
 * gets its own response first; one that has not is answered in its place, unless it was before.
 *
 * @param open the connection's responses in flight, in the order of their requests
 */
export function refuseUnparsed(error: ParserError, socket: Duplex, open: ServerResponse[]): void {
  // The parser refuses each further byte as well.
  if (closing.has(socket)) return;
  if (!socket.writable) {
    // A connection that is closing has its responses to send yet; one that broke is destroyed already.
    if (!socket.writableEnded) socket.destroy(error);
    return;
  }
  // Behind a request with `Connection: close` nothing is answered (RFC 9112, section 9.6): its response ends the connection.
  if (error.code === "HPE_CLOSED_CONNECTION") return;
  const last = open.at(-1);
  const broken = last?.req.complete ? undefined : last;
  const requestId = String(broken?.getHeader("x-request-id") ?? randomUUID());
  const response = parserRefusal(error, requestId);
  log.info({ requestId, status: response.status, reason: error.code }, "a request could not be parsed");
  answerLast(response, socket, open);
}

/** For CONNECT Node provides the bare connection, no response. @param open as for `refuseUnparsed` */
export function refuseTunnel(socket: Duplex, open: ServerResponse[]): void {
  socket.resume(); // nobody else reads it any more
  answerLast(methodRefusal(randomUUID()), socket, open);
}

/** How long the responses that are open may take to be ready, and then to be sent. */
const maxWaitMs = 60_000;
/** How long bytes of a client that was answered are still read: unread ones would reset the connection, and the response be lost. */
const lingerMs = 1000;

/** Sends a response behind those that are open on a connection, and closes it. */
async function answerLast(response: Response, socket: Duplex, open: ServerResponse[]): Promise<void> {
  closing.add(socket);
  socket.on("error", () => {}); // the client may be gone
  const bytes = await bytesOf(response);
  const last = open.at(-1);
  // It was answered before all of it had come, and then broke off.
  const hasAnswer = last && !last.req.complete && last.headersSent;
  const whole = open.findLast(({ req }) => req.complete);
  if (hasAnswer) afterResponse(socket, last, () => close(socket));
  else afterResponse(socket, whole, () => close(socket, bytes));
}

/**
 * Calls `act` once all of a response was handed to its connection, if that still takes more; at once where there is no response.
 * The connection of one that takes too long is closed.
 */
function afterResponse(socket: Duplex, response: ServerResponse | undefined, act: () => void): void {
  const proceed = () => {
    clearTimeout(timer);
    if (socket.writable) act();
  };
  const timer = setTimeout(() => socket.destroy(), maxWaitMs);
  socket.once("close", () => clearTimeout(timer));
  // One that waits for another's end has no connection yet.
  const isHandedOver = response?.writableFinished || (response?.writableEnded && response.socket);
  if (!response || isHandedOver) proceed();
  // Not its `finish`: of a half-closed connection Node has then closed the other half.
  else response.once("prefinish", proceed);
}

/** Closes a connection behind what was written to it, and `bytes`. */
function close(socket: Duplex, bytes?: Buffer): void {
  const timer = setTimeout(() => socket.destroy(), maxWaitMs);
  socket.once("close", () => clearTimeout(timer));
  socket.end(bytes, () => setTimeout(() => socket.destroy(), lingerMs).unref());
}

/** A response as it is on the wire, where it is the last one of its connection. */
async function bytesOf(response: Response): Promise<Buffer> {
  const { status, headers } = response;
  const body = Buffer.from(await response.arrayBuffer());
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...[...headers, ...Object.entries(securityHeaders)].map(([name, value]) => `${name}: ${value}`),
    `content-security-policy: ${closedPolicy}`,
    `content-length: ${body.length}`,
    "connection: close",
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]);
}
