// For a host whose server is its own: a function host, `next start`, or `server.js` of the standalone output.
import "server-only";
import { randomUUID } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { env } from "#lib/env";
import { trustClientAddressHeader } from "#lib/http/address";
import { requestIdHeader } from "#lib/http/request-id";
import { makeSenderNaming } from "#lib/server/client-address";
import { cutUserAgent, isApi, findRefusal } from "#lib/server/refusals";

/** The platform serves them by itself. */
const noFiles = { has: () => false };

/**
 * Gives each request an id and its client's address before anybody listens to it. What our listener would refuse becomes a path that no
 * route has. Node publishes a request on this channel as it begins.
 */
export function nameRequests(): void {
  const nameSender = env().VERCEL ? undefined : makeSenderNaming(); // Vercel tells it in a header of its own
  subscribe("http.server.request.start", (message) => {
    const { request } = message as { request: IncomingMessage };
    cutUserAgent(request);
    const requestId = randomUUID();
    request.headers[requestIdHeader] = requestId;
    nameSender?.(request);
    if (isApi(request.url) && findRefusal(request, requestId, noFiles)) request.url = "/api/refused";
  });
  if (nameSender) trustClientAddressHeader("another");
}
