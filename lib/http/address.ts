import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { env } from "#lib/env";
import { log } from "#lib/log";

/** Set by lib/server/client-address.ts on every request, whatever the client sent under this name. */
export const clientAddressHeader = "x-spoor-client-address";

type WebServer = "own" | "another" | false;
const known = oncePerProcess("server", (): { server: WebServer; hasUntrustedProxy: boolean } => ({
  server: false,
  hasUntrustedProxy: false,
}));

/**
 * Declares whether every request of this process has that header from us, so that it can be trusted.
 *
 * @param server whether the HTTP server is our own, or another whose requests we name; false where neither is
 */
export function trustClientAddressHeader(server: WebServer = "own"): void {
  known.server = server;
}

/** Whether lib/server/web.ts started this process; elsewhere Next's own server did, or a function host. */
export const hasOwnServer = (): boolean => known.server === "own";

/**
 * The key of a rate limit by address: an IPv4 address, or the /64 of an IPv6 one. A single subscriber has at least a /64
 * (RFC 6177), so its 2^64 addresses would evade a limit.
 */
export function getNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const rest = tail === undefined ? [] : tail.split(":").filter(Boolean);
  const zeros = tail === undefined ? 0 : 8 - groups.length - rest.length;
  const all = [...groups, ...Array<string>(Math.max(0, zeros)).fill("0"), ...rest];
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}

/**
 * Whom a limit for all networks together is shared by first: an IPv4 address, or the /48 of an IPv6 one. One line often has a
 * /56 or a /48 (RFC 6177, section 2), so 256 networks and more.
 */
export function getSite(address: string): string {
  const network = getNetwork(address);
  return network.includes(":") ? `${network.split(":").slice(0, 3).join(":")}::/48` : network;
}

/** The address that a request came from, by `TRUSTED_PROXIES`; `unknown` on a host that does not provide it. */
export function clientAddress(headers: Headers): string {
  if (known.server) return headers.get(clientAddressHeader) ?? "unknown";
  if (env().VERCEL) return headers.get("x-real-ip") ?? "unknown";
  return "unknown";
}

/** Notes a private address that forwards requests and that `TRUSTED_PROXIES` does not name; the first is logged. */
export function noteForwarded(proxy: string): void {
  if (known.hasUntrustedProxy) return;
  known.hasUntrustedProxy = true;
  log.warn({ proxy }, untrustedProxyNote);
}

const untrustedProxyNote =
  "Requests come through a proxy that TRUSTED_PROXIES does not name, so that all callers count as one address: limits by address stop everyone at once, and the audit trail has the proxy's. Set it to the proxy's address.";

/** What the operator should know of a proxy in front; undefined where none was seen, or it is trusted. */
export const proxyNote = (): string | undefined => (known.hasUntrustedProxy ? untrustedProxyNote : undefined);
