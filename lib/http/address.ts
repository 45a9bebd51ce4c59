import { oncePerProcess } from "#lib/concurrency/once-per-process";
import { env } from "#lib/env";
import { log } from "#lib/log";

/** lib/server/client-address.ts sets it on every request, whatever the client sent under this name. */
export const clientAddressHeader = "x-spoor-client-address";

type WebServer = "own" | "another" | false;
const known = oncePerProcess("server", (): { server: WebServer; hasUntrustedProxy: boolean } => ({
  server: false,
  hasUntrustedProxy: false,
}));

/**
 * Declares that every request of this process has that header from us.
 * @param server our own HTTP server, or another whose requests we name
 */
export function trustClientAddressHeader(server: WebServer = "own"): void {
  known.server = server;
}

/** Returns false under Next's own server and on a function host. */
export const hasOwnServer = (): boolean => known.server === "own";

/**
 * Returns an IPv4 address, or the /64 of an IPv6 one: a subscriber has at least a /64 (RFC 6177), whose addresses would
 * evade a limit.
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
 * Returns an IPv4 address, or the /48 of an IPv6 one: one line often has a /56 or a /48 (RFC 6177, section 2), which is
 * 256 networks and more.
 */
export function getSite(address: string): string {
  const network = getNetwork(address);
  return network.includes(":") ? `${network.split(":").slice(0, 3).join(":")}::/48` : network;
}

/** Returns the address that a request came from, by `TRUSTED_PROXIES`; `unknown` if the host does not provide it. */
export function clientAddress(headers: Headers): string {
  if (known.server) return headers.get(clientAddressHeader) ?? "unknown";
  if (env().VERCEL) return headers.get("x-real-ip") ?? "unknown";
  return "unknown";
}

/** Records a private address that forwards requests without being in `TRUSTED_PROXIES`. */
export function noteForwarded(proxy: string): void {
  if (known.hasUntrustedProxy) return;
  known.hasUntrustedProxy = true;
  log.warn({ proxy }, untrustedProxyNote);
}

const untrustedProxyNote =
  "Requests come through a proxy that TRUSTED_PROXIES does not name, so that all callers count as one address: limits by address stop everyone at once, and the audit trail has the proxy's. Set it to the proxy's address.";

export const proxyNote = (): string | undefined => (known.hasUntrustedProxy ? untrustedProxyNote : undefined);
