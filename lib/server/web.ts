// The web process: Next behind our own HTTP server, which determines the client's address, limits how long a request may take
// to arrive, and drains before it stops. Next's own server gives a route handler none of that.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import next from "next";
import proxyaddr from "proxy-addr";
import { forRequest, type RequestState } from "#lib/current-request";
import { env, setEnv } from "#lib/env";
import { clientAddressHeader, noteForwarded, siteOf, trustClientAddressHeader } from "#lib/http/address";
import { endOf, rememberArrival } from "#lib/http/arrival";
import { closedPolicy, securityHeaders, transportHeaders } from "#lib/http/headers";
import { requestIdHeader } from "#lib/http/request-id";
import { log } from "#lib/log";
import { makeAccessLog } from "#lib/observability/access";
import { logConsole } from "#lib/observability/console";
import { flushTracing } from "#lib/observability/tracing";
import { addressesOf, listenAt, warningOf } from "#lib/server/listen";
import { Pace } from "#lib/server/pace";
import { hasTooManyPages, isPage, renderInTurn } from "#lib/server/page-turns";
import { isApi, maxHeaderBytes, refusalOf, refuseBusy, refuseTunnel, refuseUnparsed } from "#lib/server/refusals";
import { restWhenIdle } from "#lib/server/rest";

const headersTimeoutMs = 20_000;
/** The largest upload at the slowest accepted pace takes over an hour; lib/http/body.ts watches the pace. */
const uploadTimeoutMs = 2 * 3_600_000;
const requestTimeoutMs = 60_000;
const drainMs = 12_000;
/** `Retry-After` of a page that took too long. */
const overloadedSeconds = 5;

const { PORT, HOST, BASE_URL, TRUSTED_PROXIES } = env();
const dev = process.argv.includes("--dev");
const trusts = proxyaddr.compile(TRUSTED_PROXIES);
const isPrivate = proxyaddr.compile(["loopback", "linklocal", "uniquelocal"]);
const headersOfAll = Object.entries({ ...securityHeaders, ...transportHeaders(BASE_URL) });

const server = createServer({
  headersTimeout: headersTimeoutMs,
  requestTimeout: uploadTimeoutMs,
  keepAliveTimeout: 30_000,
  maxHeaderSize: maxHeaderBytes,
  // lib/server/refusals.ts refuses such a request with a body.
  requireHostHeader: false,
  // Upgrade requests are answered as ordinary ones; Next in development needs them.
  shouldUpgradeCallback: () => dev,
});
// A client that closes its half of the connection still gets the response. Node has no option for it, only this property.
Object.assign(server, { httpAllowHalfOpen: true });
if (!dev) await takeBuiltConfig();
const app = next({ dev, dir: process.cwd(), httpServer: server, port: PORT, hostname: HOST ?? "localhost" });
const handle = app.getRequestHandler();

const isUpload = ({ method, url }: IncomingMessage) =>
  method === "POST" && /^\/api\/(ingest|uploads)\/?(\?|$)/.test(url ?? "");

/** A form, with or without script: anybody can send one, and Next renders a page for it. */
const isForm = ({ method, url }: IncomingMessage) => method === "POST" && !isApi(url);
const pace = new Pace();

function limitArrival(request: IncomingMessage): void {
  if (isUpload(request)) return;
  const timer = setTimeout(() => !request.complete && request.destroy(), requestTimeoutMs);
  request.once("close", () => clearTimeout(timer));
}

/**
 * On every request that Next gets. Next calls this server by itself, with all headers of a form's request: for an action of
 * another page, and for the page that an action leads to. Such a call has its sender's address, not the server's.
 */
const ownHeader = "x-spoor-own";
const ownCall = randomUUID();

/** Next's configuration as its build has stored it: reading next.config.ts would load the compiler, and 50 MiB with it. */
async function takeBuiltConfig(): Promise<void> {
  const { config } = JSON.parse(await readFile(".next/required-server-files.json", "utf8"));
  setEnv({ __NEXT_PRIVATE_STANDALONE_CONFIG: JSON.stringify(config) });
}

/** The client's address behind the trusted proxies; the connection's own where they passed on no valid one. */
function addressOf(request: IncomingMessage): string {
  if (request.headers[ownHeader] === ownCall) return String(request.headers[clientAddressHeader]);
  // A closed connection no longer has an address.
  const direct = request.socket.remoteAddress ?? "unknown";
  // A private address that forwards is a proxy of the operator's. One that is not trusted makes all callers one.
  const isForwarded = request.headers["x-forwarded-for"] !== undefined && isIP(direct) !== 0;
  if (isForwarded && isPrivate(direct, 0) && !trusts(direct, 0)) noteForwarded(direct);
  const forwarded = proxyaddr(request, (address, hop) => isIP(address) !== 0 && trusts(address, hop));
  const address = isIP(forwarded ?? "") ? forwarded : direct;
  // The zone of a link-local address is free text that names an interface of the proxy.
  return address.replace(/^::ffff:/, "").replace(/%.*$/, "");
}

async function send(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  response.end(body ? Buffer.from(await new Response(body).arrayBuffer()) : undefined);
}

/** What a request's work knows of it, and says of its response: a page has no other way to set a status. */
function stateOf(
  request: IncomingMessage,
  response: ServerResponse,
  known: { requestId: string; address: string },
): RequestState {
  const state: RequestState = { ...known, signal: endOf(request, response) };
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

const inFlight = new Set<ServerResponse>();
let closeOthers = (): void => {};

/** Stops accepting connections, waits for requests in flight, and closes idle connections. */
async function stop(): Promise<void> {
  const deadline = Date.now() + drainMs;
  const closed = once(server, "close");
  server.close();
  closeOthers();
  while (inFlight.size > 0 && Date.now() < deadline) await sleep(50);
  server.closeAllConnections();
  await closed;
  await app.close();
  await Promise.race([flushTracing().catch(() => {}), sleep(1000)]);
  process.exit(0);
}

process.on("SIGINT", () => {}); // Ctrl-C reaches every process of the terminal; the launcher stops this one in its turn
process.once("SIGTERM", stop);
process.once("disconnect", stop);

trustClientAddressHeader();
if (!dev) logConsole();
await app.prepare();
const watch = await makeAccessLog();
const serve: RequestListener = (request, response) => {
  // The header of Next's client router: for an API route Next would answer it with a redirect.
  if (isApi(request.url)) delete request.headers.rsc;
  // The response to an upload is too short for gzip, but Next would compress it all the same (0.2 ms).
  if (isUpload(request)) delete request.headers["accept-encoding"];
  const requestId = randomUUID();
  request.headers[requestIdHeader] = requestId;
  const address = addressOf(request);
  request.headers[clientAddressHeader] = address;
  request.headers[ownHeader] = ownCall;
  // For responses that Next makes itself, such as a missing file. Route handlers and the middleware set the same values.
  response.setHeader("X-Request-Id", requestId);
  for (const [name, value] of headersOfAll) response.setHeader(name, value);
  closeByDefault(response);
  const forget = rememberArrival(requestId, request);
  const logResponse = watch(request, response);
  inFlight.add(response);
  response.once("close", () => {
    inFlight.delete(response);
    logResponse();
    forget();
  });
  limitArrival(request);
  const refusal = refusalOf(request, requestId, dev);
  const begin = () => forRequest(stateOf(request, response, { requestId, address }), () => handle(request, response));
  if (refusal) send(response, refusal);
  else if (!isPage(request)) begin();
  else if (!isForm(request) && hasTooManyPages(address)) send(response, refuseBusy(requestId));
  else if (!isForm(request)) renderInTurn(address, response, begin);
  else if (!pace.enter(siteOf(address), () => !response.destroyed && begin())) send(response, refuseBusy(requestId));
};
server.on("request", serve);
// An unknown expectation is ignored (RFC 9110, section 10.1.1, allows it).
server.on("checkExpectation", serve);
server.on("connect", (_request, socket) => refuseTunnel(socket, randomUUID()));
server.on("clientError", (error, socket) => {
  const answering = [...inFlight].find(({ req }) => req.socket === socket);
  refuseUnparsed(error, socket, answering, String(answering?.getHeader("x-request-id") ?? randomUUID()));
});
const warning = warningOf(BASE_URL);
if (warning) log.warn(warning);
closeOthers = await listenAt(server, PORT, addressesOf({ HOST, BASE_URL })).catch((error: Error) => {
  log.fatal({ err: error }, "the web server could not listen");
  process.stderr.write(`Spoor can't listen on port ${PORT}: ${error.message}\n`);
  process.exit(1);
});
restWhenIdle();
process.send?.("ready");
