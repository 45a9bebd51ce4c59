import { env } from "#lib/env";

/** Set by the web server (lib/web.ts) on every request, whatever the client sent under this name. */
export const clientAddressHeader = "x-spoor-client-address";

const globals = globalThis as typeof globalThis & { spoorWebServer?: boolean };

/** Says that this process's requests come through lib/web.ts, so that its header can be believed. */
export function trustClientAddressHeader(): void {
  globals.spoorWebServer = true;
}

/** The address a request came from, behind `TRUSTED_PROXIES` only; `unknown` where the host does not tell. */
export function clientAddress(headers: Headers): string {
  if (globals.spoorWebServer) return headers.get(clientAddressHeader) ?? "unknown";
  if (env().VERCEL) return headers.get("x-real-ip") ?? "unknown";
  return "unknown";
}
