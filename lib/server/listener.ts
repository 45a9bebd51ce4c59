// What every request goes through before and after Next.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { forRequest, type RequestState } from "#lib/current-request";
import { env } from "#lib/env";
import { getSite } from "#lib/http/address";
import { signalEnd, rememberArrival } from "#lib/http/arrival";
import { closedPolicy, securityHeaders, transportHeaders } from "#lib/http/headers";
import { requestIdHeader } from "#lib/http/request-id";
import { limits } from "#lib/limits";
import { makeAccessLog } from "#lib/observability/access";
import { Arriving } from "#lib/server/arriving";
import { makeSenderNaming } from "#lib/server/client-address";
import { Pace } from "#lib/server/pace";
import { hasTooManyPages, isPage, renderInTurn } from "#lib/server/page-turns";
import { cutUserAgent, fileName, isApi, findRefusal, refuseBusy } from "#lib/server/refusals";
import { readStaticFiles, type StaticFiles } from "#lib/server/static-files";

/** The largest upload at the slowest accepted pace takes over an hour; lib/http/body.ts watches the pace. */
export const arrivalTimes = {
  headersTimeout: limits.request.headerSeconds * 1000,
  requestTimeout: limits.request.uploadSeconds * 1000,
};
const requestTimeoutMs = limits.request.seconds * 1000;
/** `Retry-After` of a page that took too long. */
const overloadedSeconds = 5;

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

const isUpload = ({ method, url }: IncomingMessage) =>
  (method === "POST" && /^\/api\/(ingest|uploads)\/?(\?|$)/.test(url ?? "")) ||
  (method === "PUT" && /^\/api\/pictures\//.test(url ?? ""));

/** A form, with or without script: anybody can send one, and Next renders a page for it. */
const isForm = ({ method, url }: IncomingMessage) => method === "POST" && !isApi(url);

const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

function limitArrival(request: IncomingMessage, address: string, arriving: Arriving): void {
  if (isUpload(request)) return;
  if (hasBody(request)) arriving.enter(request, getSite(address));
  const timer = setTimeout(() => !request.complete && request.destroy(), requestTimeoutMs);
  request.once("close", () => clearTimeout(timer));
}

async function send(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  response.end(body ? Buffer.from(await new Response(body).arrayBuffer()) : undefined);
}

/** What a request's work knows of it, and says of its response: a page has no other way to set a status. */
function makeRequestState(
  request: IncomingMessage,
  response: ServerResponse,
  known: { requestId: string; address: string },
): RequestState {
  const state: RequestState = {
    ...known,
    signal: signalEnd(request, response),
    declareEncoding: (encoding) => response.setHeader("Content-Encoding", encoding),
  };
  const { writeHead } = response;
  response.writeHead = (status: number, ...rest: unknown[]) => {
    const isOverloaded = state.isOverloaded && (status === 200 || status === 500);
    if (isOverloaded) response.setHeader("Retry-After", overloadedSeconds);
    return Reflect.apply(writeHead, response, [isOverloaded ? 503 : status, ...rest]);
  };
  return state;
}

/** Gives a response without a policy the closed one, as its headers are sent. */
function closeByDefault(response: ServerResponse): void {
  const writeHead = response.writeHead as (...args: unknown[]) => ServerResponse;
  response.writeHead = (...args: unknown[]) => {
    if (!response.hasHeader("Content-Security-Policy")) response.setHeader("Content-Security-Policy", closedPolicy);
    return writeHead.apply(response, args);
  };
}

/**
 * What makes a server's requests go through all that this file and lib/server/refusals.ts do, and then to Next. Call it once
 * the application is built.
 *
 * @returns takes a server and Next's handler, and returns the server's responses in flight
 */
export async function makeServing(dev: boolean): Promise<(server: Server, handle: Handle) => Set<ServerResponse>> {
  const [watch, files] = await Promise.all([makeAccessLog(), dev ? undefined : readStaticFiles()]);
  return (server, handle) => {
    const inFlight = new Set<ServerResponse>();
    const serve = makeListener(handle, files, inFlight, watch);
    server.on("request", serve);
    // An unknown expectation is ignored (RFC 9110, section 10.1.1, allows it).
    server.on("checkExpectation", serve);
    return inFlight;
  };
}

function makeListener(
  handle: Handle,
  files: StaticFiles | undefined,
  inFlight: Set<ServerResponse>,
  watch: Awaited<ReturnType<typeof makeAccessLog>>,
): RequestListener {
  const { BASE_URL } = env();
  const nameSender = makeSenderNaming();
  const headersOfAll = Object.entries({ ...securityHeaders, ...transportHeaders(BASE_URL) });
  const pace = new Pace();
  const arriving = new Arriving(limits.request.bodiesArriving);
  return (request, response) => {
    // By the scheme that a proxy says Next would call this server itself, which speaks no TLS.
    delete request.headers["x-forwarded-proto"];
    cutUserAgent(request);
    // The header of Next's client router: for an API route Next would answer it with a redirect.
    if (isApi(request.url)) delete request.headers.rsc;
    // The response to an upload is too short for gzip, but Next would compress it all the same (0.2 ms).
    if (isUpload(request)) delete request.headers["accept-encoding"];
    const requestId = randomUUID();
    request.headers[requestIdHeader] = requestId;
    const address = nameSender(request);
    // For responses that Next makes itself, such as a missing file. Route handlers and the middleware set the same values.
    response.setHeader("X-Request-Id", requestId);
    for (const [name, value] of headersOfAll) response.setHeader(name, value);
    closeByDefault(response);
    const forget = rememberArrival(requestId, request);
    const logResponse = watch(request, response);
    inFlight.add(response);
    // Next and this server listen a dozen times for the end of a page; beyond ten Node.js would warn of a leak.
    response.setMaxListeners(32);
    response.once("close", () => {
      inFlight.delete(response);
      logResponse();
      forget();
    });
    limitArrival(request, address, arriving);
    const refusal = findRefusal(request, requestId, files);
    const begin = () => forRequest(makeRequestState(request, response, { requestId, address }), () => handle(request, response));
    const file = fileName(request.url?.split("?")[0] ?? "");
    if (refusal) send(response, refusal);
    else if (files?.has(file)) files.send(file, request, response).then((isSent) => isSent || begin());
    else if (!isPage(request)) begin();
    else if (!isForm(request) && hasTooManyPages(address)) send(response, refuseBusy(requestId));
    else if (!isForm(request)) renderInTurn(address, response, begin);
    else if (!pace.enter(getSite(address), () => !response.destroyed && begin())) send(response, refuseBusy(requestId));
  };
}
