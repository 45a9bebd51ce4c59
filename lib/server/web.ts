// The web process: Next behind an HTTP server of our own, which knows the address a request came from, bounds how long
// one may take to arrive, and drains before it stops. Next's own server tells a route handler none of that.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import next from "next";
import proxyaddr from "proxy-addr";
import { env } from "#lib/env";
import { clientAddressHeader, trustClientAddressHeader } from "#lib/http/address";
import { rememberArrival } from "#lib/http/arrival";
import { requestIdHeader } from "#lib/http/request-id";
import { log } from "#lib/log";
import { makeAccessLog } from "#lib/observability/access";
import { flushTracing } from "#lib/observability/tracing";
import { isApi, maxHeaderBytes, refusalOf, refuseTunnel, refuseUnparsed } from "#lib/server/refusals";

const headersTimeoutMs = 20_000;
/** An upload at the slowest pace that is let through takes over an hour; lib/http/body.ts watches its pace. */
const uploadTimeoutMs = 2 * 3_600_000;
const requestTimeoutMs = 60_000;
const drainMs = 12_000;

const { PORT, HOST, TRUSTED_PROXIES } = env();
const dev = process.argv.includes("--dev");
const trusts = proxyaddr.compile(TRUSTED_PROXIES);

const server = createServer({
  headersTimeout: headersTimeoutMs,
  requestTimeout: uploadTimeoutMs,
  keepAliveTimeout: 30_000,
  maxHeaderSize: maxHeaderBytes,
  // lib/server/refusals.ts refuses such a request with a body.
  requireHostHeader: false,
  // An offer to speak another protocol is not taken, and the request is answered as it is; Next in development takes one.
  shouldUpgradeCallback: () => dev,
});
// Whoever closes their half behind a request still reads the answer. Node has no option for it, only this property.
Object.assign(server, { httpAllowHalfOpen: true });
const app = next({ dev, dir: process.cwd(), httpServer: server, port: PORT, hostname: HOST ?? "localhost" });
const handle = app.getRequestHandler();

const isUpload = ({ method, url }: IncomingMessage) =>
  method === "POST" && /^\/api\/(ingest|uploads)\/?(\?|$)/.test(url ?? "");

function limitArrival(request: IncomingMessage): void {
  if (isUpload(request)) return;
  const timer = setTimeout(() => !request.complete && request.destroy(), requestTimeoutMs);
  request.once("close", () => clearTimeout(timer));
}

/** The address behind the trusted proxies; the connection's own where what they passed on is none. */
function addressOf(request: IncomingMessage): string {
  // A connection that is gone already has no address any more.
  const direct = request.socket.remoteAddress ?? "unknown";
  const forwarded = proxyaddr(request, (address, hop) => isIP(address) !== 0 && trusts(address, hop));
  const address = isIP(forwarded ?? "") ? forwarded : direct;
  // The zone of a link-local address names one of the proxy's interfaces, in any words.
  return address.replace(/^::ffff:/, "").replace(/%.*$/, "");
}

async function send(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  response.end(body ? Buffer.from(await new Response(body).arrayBuffer()) : undefined);
}

const inFlight = new Set<ServerResponse>();

/** Takes no new connections, lets the requests that run come to their end, and closes what only stays open. */
async function stop(): Promise<void> {
  const deadline = Date.now() + drainMs;
  const closed = once(server, "close");
  server.close();
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
await app.prepare();
const watch = await makeAccessLog();
const serve: RequestListener = (request, response) => {
  // Next's own client asks for pages in another form; asked so for an API route, it answers with a redirect.
  if (isApi(request.url)) delete request.headers.rsc;
  // The answer to an upload is shorter than what gzip adds to it, and Next would compress it all the same (0.2 ms).
  if (isUpload(request)) delete request.headers["accept-encoding"];
  const requestId = randomUUID();
  request.headers[requestIdHeader] = requestId;
  request.headers[clientAddressHeader] = addressOf(request);
  // For what Next answers by itself, such as a missing file; a route handler and the middleware set the same ones.
  response.setHeader("X-Request-Id", requestId);
  response.setHeader("X-Content-Type-Options", "nosniff");
  const forget = rememberArrival(requestId, request);
  const tell = watch(request, response);
  inFlight.add(response);
  response.once("close", () => {
    inFlight.delete(response);
    tell();
    forget();
  });
  limitArrival(request);
  const refusal = refusalOf(request, requestId, dev);
  if (refusal) send(response, refusal);
  else handle(request, response);
};
server.on("request", serve);
// An expectation that is not known is not met, and the request answered as it is (RFC 9110, section 10.1.1, allows both).
server.on("checkExpectation", serve);
server.on("connect", (_request, socket) => refuseTunnel(socket, randomUUID()));
server.on("clientError", (error, socket) => {
  const answering = [...inFlight].find(({ req }) => req.socket === socket);
  refuseUnparsed(error, socket, answering, String(answering?.getHeader("x-request-id") ?? randomUUID()));
});
server.once("error", (error) => {
  log.fatal({ err: error }, "the web server could not listen");
  process.stderr.write(`Spoor can't listen on port ${PORT}: ${error.message}\n`);
  process.exit(1);
});
server.listen(PORT, HOST, () => process.send?.("ready"));
