import { clientAddress, getNetwork } from "#lib/http/address";

const loopback = /^(127(\.\d{1,3}){3}|::1)$/;

/**
 * Uncertain cases count as different, so that the code has to be typed.
 * @param startedFrom the address from which the login was started
 */
export function isSameNetwork(startedFrom: string, requestHeaders: Headers): boolean {
  const address = clientAddress(requestHeaders);
  if (startedFrom === "unknown" || address === "unknown" || isProxyAddress(address, requestHeaders)) return false;
  return getNetwork(startedFrom) === getNetwork(address) || (loopback.test(startedFrom) && loopback.test(address));
}

/**
 * An address of a proxy that TRUSTED_PROXIES does not name could be anybody's. Next adds the header if there is none.
 */
function isProxyAddress(address: string, requestHeaders: Headers): boolean {
  const forwarded = requestHeaders.get("x-forwarded-for");
  return forwarded !== null && !forwarded.split(",").some((one) => plain(one) === address);
}

/** Removes an IPv6 prefix of IPv4 and a zone. */
const plain = (address: string) =>
  address
    .trim()
    .replace(/^::ffff:/, "")
    .replace(/%.*$/, "");
