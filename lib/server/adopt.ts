// For a host that starts Next's own server: `next start`, or `server.js` of the standalone output.
import "server-only";
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import { trustClientAddressHeader } from "#lib/http/address";
import { arrivalTimes, makeServing } from "#lib/server/listener";

/** What Node publishes of a request before anybody listens to it. */
type Started = { request: IncomingMessage; server: Server };

/**
 * Lets every server of this process work as that of lib/server/web.ts does, from the first request that begins after this:
 * our listener takes the place of Next's, and calls it.
 */
export async function adoptServers(): Promise<void> {
  const serve = await makeServing(false);
  const adopted = new WeakSet<Server>();
  subscribe("http.server.request.start", (message) => {
    const { request, server } = message as Started;
    // Node would refuse it without a body; lib/server/refusals.ts looks at what was sent.
    request.headers.host ??= "";
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
