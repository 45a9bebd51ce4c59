// Every request passes here before Next.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { forRequest, type RequestState } from "#lib/core/current-request";
import { env } from "#lib/core/env";
import { limits } from "#lib/core/limits";
import { rememberArrival, signalEnd } from "#lib/http/arrival";
import { closedPolicy, requestIdHeader, securityHeaders, transportHeaders } from "#lib/http/headers";
import { makeAccessLog } from "#lib/observability/access";
import { makeSenderNaming } from "#server/http/client-address";
import { cutUserAgent, findRefusal, isApi, isPage, refuseBusy } from "#server/http/refusals";
import { hasTooManyPages, limitBodies, renderInTurn } from "#server/http/request-limits";

const overloadedSeconds = 5;

const isUpload = ({ method, url }: IncomingMessage) =>
  (method === "POST" && /^\/api\/(ingest|uploads)\/?(\?|$)/.test(url ?? "")) ||
  (method === "PUT" && /^\/api\/(pictures|originals\/[^/?]+)\//.test(url ?? ""));

const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** lib/http/body.ts watches the pace of an upload. */
function limitArrival(request: IncomingMessage, address: string): void {
  if (isUpload(request)) return;
  if (hasBody(request)) limitBodies(request, address);
  const timer = setTimeout(() => !request.complete && request.destroy(), limits.request.seconds * 1000);
  request.once("close", () => clearTimeout(timer));
}

/** Removes headers that Next would answer wrongly, or at a cost. */
function adjustHeaders({ url, headers }: IncomingMessage, isUploaded: boolean): void {
  delete headers["x-forwarded-proto"]; // with https Next would call this server, which has no TLS, by https
  delete headers.range; // an invalid range of a file is a 500; RFC 9110, section 14.2 lets a server ignore it
  if (isApi(url)) delete headers.rsc; // Next's client router sends it, and would be redirected
  if (isUploaded) delete headers["accept-encoding"]; // compressing the short response takes 0.2 ms
}

/** A page can't set its own status. */
function adjustHead(response: ServerResponse, state: RequestState): void {
  const writeHead = response.writeHead as (...args: unknown[]) => ServerResponse;
  response.writeHead = (status: number, ...rest: unknown[]) => {
    const isOverloaded = state.isOverloaded && (status === 200 || status === 500);
    if (isOverloaded) response.setHeader("Retry-After", overloadedSeconds);
    if (!response.hasHeader("Content-Security-Policy")) response.setHeader("Content-Security-Policy", closedPolicy);
    return writeHead.call(response, isOverloaded ? 503 : status, ...rest);
  };
}

async function send(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  response.end(body ? Buffer.from(await new Response(body).arrayBuffer()) : undefined);
}

/** Call it once the application is built. @returns the responses in flight */
export async function serveRequests(
  server: Server,
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
  isDevelopment: boolean,
): Promise<Set<ServerResponse>> {
  const watch = await makeAccessLog();
  const nameSender = makeSenderNaming();
  const headersOfAll = Object.entries({ ...securityHeaders, ...transportHeaders(env().BASE_URL) });
  const inFlight = new Set<ServerResponse>();
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    adjustHeaders(request, isUpload(request));
    cutUserAgent(request);
    const requestId = randomUUID();
    request.headers[requestIdHeader] = requestId;
    const address = nameSender(request);
    // for responses that Next makes itself, such as a missing file
    response.setHeader("X-Request-Id", requestId);
    for (const [name, value] of headersOfAll) response.setHeader(name, value);
    const state: RequestState = {
      requestId,
      address,
      signal: signalEnd(response),
      declareEncoding: (encoding) => response.setHeader("Content-Encoding", encoding),
    };
    adjustHead(response, state);
    const forget = rememberArrival(requestId, request);
    const logResponse = watch(request, response);
    inFlight.add(response);
    response.setMaxListeners(32); // Next and this server have a dozen; Node warns of a leak beyond ten
    response.once("close", () => {
      inFlight.delete(response);
      logResponse();
      forget();
    });
    limitArrival(request, address);
    const refusal = findRefusal(request, requestId, isDevelopment);
    const begin = () => forRequest(state, () => handle(request, response));
    if (refusal) send(response, refusal);
    else if (!isPage(request)) begin();
    else if (hasTooManyPages(address)) send(response, refuseBusy(requestId));
    else renderInTurn(address, response, begin);
  };
  server.on("request", serve);
  server.on("checkExpectation", serve); // an unknown expectation may be ignored (RFC 9110, section 10.1.1)
  return inFlight;
}
