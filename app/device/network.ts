import { clientAddress, getNetwork } from "#lib/http/address";

const loopback = /^(127(\.\d{1,3}){3}|::1)$/;

/**
 * Whether a login was started on the network of the browser that sent a request. What is uncertain counts as different: the
 * code then has to be typed, which is the safe side.
 *
 * @param startedFrom the address from which the login was started.
 */
export function isSameNetwork(startedFrom: string, requestHeaders: Headers): boolean {
  const address = clientAddress(requestHeaders);
  if (startedFrom === "unknown" || address === "unknown" || isProxyAddress(address, requestHeaders)) return false;
  return getNetwork(startedFrom) === getNetwork(address) || (loopback.test(startedFrom) && loopback.test(address));
}

/**
 * Whether an address is that of a proxy which TRUSTED_PROXIES does not name, and so everybody's: the proxy says whom it
 * speaks for, and was not believed. (Next adds the header where there is none, with the connection's own address.)
 */
function isProxyAddress(address: string, requestHeaders: Headers): boolean {
  const forwarded = requestHeaders.get("x-forwarded-for");
  return forwarded !== null && !forwarded.split(",").some((one) => plain(one) === address);
}

/** An address as `clientAddress` has it: not as IPv4 within IPv6, and without a zone. */
const plain = (address: string) =>
  address
    .trim()
    .replace(/^::ffff:/, "")
    .replace(/%.*$/, "");
