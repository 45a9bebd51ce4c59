// The web process: Next behind an HTTP server of our own, which knows the address a request came from, bounds how long
// one may take to arrive, and drains before it stops. Next's own server tells a route handler none of that.
import { createServer, type IncomingMessage } from "node:http";
import next from "next";
import proxyaddr from "proxy-addr";
import { clientAddressHeader, trustClientAddressHeader } from "./address.ts";
import { env } from "./env.ts";
import { log } from "./log.ts";

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
});
const app = next({ dev, dir: process.cwd(), httpServer: server, port: PORT, hostname: HOST ?? "localhost" });
const handle = app.getRequestHandler();

function boundArrival(request: IncomingMessage): void {
  if (request.url?.startsWith("/api/ingest")) return;
  const timer = setTimeout(() => !request.complete && request.destroy(), requestTimeoutMs);
  request.once("close", () => clearTimeout(timer));
}

async function stop(): Promise<void> {
  const forced = setTimeout(() => server.closeAllConnections(), drainMs);
  await new Promise((closed) => {
    server.close(closed);
    server.closeIdleConnections();
  });
  clearTimeout(forced);
  await app.close();
  process.exit(0);
}

process.on("SIGINT", () => {}); // Ctrl-C reaches every process of the terminal; the launcher stops this one in its turn
process.once("SIGTERM", stop);
process.once("disconnect", stop);

trustClientAddressHeader();
await app.prepare();
server.on("request", (request, response) => {
  request.headers[clientAddressHeader] = proxyaddr(request, trusts).replace(/^::ffff:/, "");
  boundArrival(request);
  handle(request, response);
});
server.once("error", (error) => {
  log.fatal({ err: error }, "the web server could not listen");
  process.stderr.write(`Spoor can't listen on port ${PORT}: ${error.message}\n`);
  process.exit(1);
});
server.listen(PORT, HOST, () => process.send?.("ready"));
