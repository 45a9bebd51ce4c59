import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** The networks that no public server is in: IANA's special-purpose registries, and what carries IPv4 inside of IPv6. */
const networks = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "::/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "fc00::/7",
  "fe80::/9",
  "ff00::/8",
];

const notPublic = new BlockList();
for (const network of networks) {
  const [address = "", bits] = network.split("/");
  notPublic.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Whether an IP address is in the public internet; an IPv4 address that stands within an IPv6 one is judged as itself. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && !notPublic.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** A sink whose name leads to where the operator did not say that it may lead. */
export class PrivateAddressError extends Error {
  override name = "PrivateAddressError";
}

/** Whether a URL's host says by itself that it is private or may be: an IP address, or `localhost`. */
export function namesItsAddress(url: URL): boolean {
  return isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0 || url.hostname === "localhost";
}

/**
 * Looks a host's name up as `dns.lookup` does, and leaves out what is not public. A connection that is made with it goes
 * to the very addresses that were judged: a name that leads elsewhere a moment later changes nothing.
 *
 * @param resolve looks the name up; the system's own resolver by default.
 */
export function publicLookup(resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, "", 0);
      const allowed = (found as LookupAddress[]).filter(({ address }) => isPublicAddress(address));
      const [first] = allowed;
      if (!first) return callback(new PrivateAddressError("the sink's name leads to a private address"), "", 0);
      if (options.all) return callback(null, allowed);
      return callback(null, first.address, first.family);
    });
  };
}
