// For a host that starts Next's own server: `next start`, or `server.js` of the standalone output.
import "server-only";
import { randomUUID } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import { trustClientAddressHeader } from "#lib/http/address";
import { requestIdHeader } from "#lib/http/request-id";
import { arrivalTimes, makeServing } from "#lib/server/listener";
import { cutUserAgent, isApi, refusalOf } from "#lib/server/refusals";

/** The platform serves them by itself. */
const noFiles = { has: () => false };

/** What Node publishes of a request before anybody listens to it. */
type Started = { request: IncomingMessage; server: Server };

/**
 * For a platform whose server is its own (Vercel): a request is only told apart and named before anybody listens to it. What our
 * listener would refuse becomes a path that no route has.
 */
export function nameRequests(): void {
  subscribe("http.server.request.start", (message) => {
    const { request } = message as Started;
    cutUserAgent(request);
    const requestId = randomUUID();
    request.headers[requestIdHeader] = requestId;
    if (isApi(request.url) && refusalOf(request, requestId, noFiles)) request.url = "/api/refused";
  });
}

/**
 * Lets every server of this process work as that of lib/server/web.ts does, from the first request that begins after this:
 * our listener takes the place of Next's, and calls it.
 */
export async function adoptServers(): Promise<void> {
  const serve = await makeServing(false);
  const adopted = new WeakSet<Server>();
  subscribe("http.server.request.start", (message) => {
    const { request, server } = message as Started;
    if (adopted.has(server)) return;
    adopted.add(server);
    const [next] = server.listeners("request") as RequestListener[];
    if (!next) return;
    server.removeAllListeners("request");
    serve(server, next);
    // Upgrade requests are answered as ordinary ones.
    Object.assign(server, arrivalTimes, { shouldUpgradeCallback: () => false });
    trustClientAddressHeader("adopted");
  });
}
