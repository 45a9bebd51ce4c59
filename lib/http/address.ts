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

/** Control characters, and before the query a backslash or an escaped slash or backslash. */
const foreign = /\p{Cc}|^[^?#]*(?:\\|%2f|%5c)/iu;

/**
 * Resolves a path as a browser does, against BASE_URL.
 * @returns undefined for another origin, or a `//` that could be read as one
 */
export function findLocalPath(path: unknown): string | undefined {
  if (typeof path !== "string" || !path.startsWith("/") || foreign.test(path)) return undefined;
  const base = new URL(env().BASE_URL);
  if (!URL.canParse(path, base)) return undefined;
  const { origin, pathname, search, hash } = new URL(path, base);
  if (origin !== base.origin || pathname.includes("//")) return undefined;
  return `${pathname}${search}${hash}`.replaceAll("\\", "%5C");
}

export function localPath(path: string | undefined | null): string {
  return findLocalPath(path) ?? "/";
}
