import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import proxyaddr from "proxy-addr";
import { env } from "#lib/core/env";
import { clientAddressHeader, noteForwarded } from "#lib/http/address";

/** Marks Next's calls to this server, whose header has the original sender's address. */
const ownHeader = "x-spoor-own";
const ownCall = randomUUID();
const isPrivate = proxyaddr.compile(["loopback", "linklocal", "uniquelocal"]);

function findAddress(request: IncomingMessage, trusts: ReturnType<typeof proxyaddr.compile>): string {
  if (request.headers[ownHeader] === ownCall) return String(request.headers[clientAddressHeader]);
  const direct = request.socket.remoteAddress ?? "unknown";
  // an untrusted proxy makes all callers look like one
  const isForwarded = request.headers["x-forwarded-for"] !== undefined && isIP(direct) !== 0;
  if (isForwarded && isPrivate(direct, 0) && !trusts(direct, 0)) noteForwarded(direct);
  const forwarded = proxyaddr(request, (address, hop) => isIP(address) !== 0 && trusts(address, hop));
  const address = isIP(forwarded ?? "") ? forwarded : direct;
  // The zone of a link-local address is free text.
  return address.replace(/^::ffff:/, "").replace(/%.*$/, "");
}

export function makeSenderNaming(): (request: IncomingMessage) => string {
  const trusts = proxyaddr.compile(env().TRUSTED_PROXIES);
  return (request) => {
    const address = findAddress(request, trusts);
    request.headers[clientAddressHeader] = address;
    request.headers[ownHeader] = ownCall;
    return address;
  };
}
