import { oncePerProcess } from "#lib/core/concurrency/once-per-process";
import { env } from "#lib/core/env";
import { log } from "#lib/core/log";

/** server/http/client-address.ts sets it on every request. */
export const clientAddressHeader = "x-spoor-client-address";

type WebServer = "own" | "another" | false;
const known = oncePerProcess("server", (): { server: WebServer; hasUntrustedProxy: boolean } => ({
  server: false,
  hasUntrustedProxy: false,
}));

export function trustClientAddressHeader(server: WebServer = "own"): void {
  known.server = server;
}

export const hasOwnServer = (): boolean => known.server === "own";

/** An IPv6 subscriber has at least a /64 (RFC 6177), whose addresses would evade a limit. */
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

/** One line often has an IPv6 /56 or a /48 (RFC 6177, section 2). */
export function getSite(address: string): string {
  const network = getNetwork(address);
  return network.includes(":") ? `${network.split(":").slice(0, 3).join(":")}::/48` : network;
}

export function clientAddress(headers: Headers): string {
  if (known.server) return headers.get(clientAddressHeader) ?? "unknown";
  if (env().VERCEL) return headers.get("x-real-ip") ?? "unknown";
  return "unknown";
}

export function noteForwarded(proxy: string): void {
  if (known.hasUntrustedProxy) return;
  known.hasUntrustedProxy = true;
  log.warn({ proxy }, untrustedProxyNote);
}

const untrustedProxyNote =
  "Requests come through a proxy that TRUSTED_PROXIES does not name, so all callers share the proxy's address in rate limits and in the audit trail. Set TRUSTED_PROXIES to the proxy's address.";

export const proxyNote = (): string | undefined => (known.hasUntrustedProxy ? untrustedProxyNote : undefined);
