// server/http/listener.ts sets these, and next.config.ts on hosts that run Next by themselves.
import { validate } from "uuid";

const unusedFeatures = [
  "accelerometer",
  "autoplay",
  "browsing-topics",
  "camera",
  "clipboard-read",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "geolocation",
  "gyroscope",
  "hid",
  "idle-detection",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "picture-in-picture",
  "publickey-credentials-create",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "usb",
  "xr-spatial-tracking",
];

export const securityHeaders: Record<string, string> = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": unusedFeatures.map((feature) => `${feature}=()`).join(", "),
};

export const transportHeaders = (baseUrl: string | undefined): Record<string, string> =>
  baseUrl?.startsWith("https:") ? { "Strict-Transport-Security": "max-age=31536000" } : {};

/** For everything but our pages. */
export const closedPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Lists show their icons at once, and a release's new ones from the next page on. */
export const iconsCacheControl = "public, max-age=3600, stale-while-revalidate=2592000";

/** Our listener, or the middleware, sets it, whatever the client sent. */
export const requestIdHeader = "x-spoor-request-id";

export function getRequestId({ headers }: { headers: Pick<Headers, "get"> }): string {
  const given = headers.get(requestIdHeader) ?? "";
  return validate(given) ? given : crypto.randomUUID();
}
