// The headers of every response, whoever makes it. lib/server/listener.ts sets them; next.config.ts does for hosts that run Next by
// themselves. Pages have a policy of their own (middleware.ts).

/** Every feature that a page could use, and none of ours does. */
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
  "web-share",
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

/** Tells browsers to use https alone from now on, where users do already. */
export const transportHeaders = (baseUrl: string | undefined): Record<string, string> =>
  baseUrl?.startsWith("https:") ? { "Strict-Transport-Security": "max-age=31536000" } : {};

/** The policy of what is no page of ours, such as an error document that Next makes itself: it may load and do nothing. */
export const closedPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Lists show their agents' icons at once from the cache, and a release's new ones from the next page on. */
export const iconsCacheControl = "public, max-age=3600, stale-while-revalidate=2592000";
