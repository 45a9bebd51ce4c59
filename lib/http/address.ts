import { env } from "#lib/env";

/** Set by the web server (lib/server/web.ts) on every request, whatever the client sent under this name. */
export const clientAddressHeader = "x-spoor-client-address";

const globals = globalThis as typeof globalThis & { spoorWebServer?: boolean };

/** Says that this process's requests come through lib/server/web.ts, so that its header can be believed. */
export function trustClientAddressHeader(): void {
  globals.spoorWebServer = true;
}

/**
 * What counts as one sender where calls are limited: an IPv4 address, or the /64 of an IPv6 one, which is the least that
 * a single line is given (RFC 6177), so that its 2^64 addresses are no way around a limit.
 */
export function networkOf(address: string): string {
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

/** The address a request came from, behind `TRUSTED_PROXIES` only; `unknown` where the host does not tell. */
export function clientAddress(headers: Headers): string {
  if (globals.spoorWebServer) return headers.get(clientAddressHeader) ?? "unknown";
  if (env().VERCEL) return headers.get("x-real-ip") ?? "unknown";
  return "unknown";
}
