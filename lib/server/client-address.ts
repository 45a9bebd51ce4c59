import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import proxyaddr from "proxy-addr";
import { env } from "#lib/env";
import { clientAddressHeader, noteForwarded } from "#lib/http/address";

/**
 * On every request that Next gets. Next calls this server by itself, with all headers of a form's request: for an action of
 * another page, and for the page that an action leads to. Such a call has its sender's address, not the server's.
 */
const ownHeader = "x-spoor-own";
const ownCall = randomUUID();
const isPrivate = proxyaddr.compile(["loopback", "linklocal", "uniquelocal"]);

/** The client's address behind the trusted proxies; the connection's own where they passed on no valid one. */
function findAddress(request: IncomingMessage, trusts: ReturnType<typeof proxyaddr.compile>): string {
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

/** Makes a function that sets a request's client address in the header that `clientAddress` reads, and returns the address. */
export function makeSenderNaming(): (request: IncomingMessage) => string {
  const trusts = proxyaddr.compile(env().TRUSTED_PROXIES);
  return (request) => {
    const address = findAddress(request, trusts);
    request.headers[clientAddressHeader] = address;
    request.headers[ownHeader] = ownCall;
    return address;
  };
}
