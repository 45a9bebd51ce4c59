import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** IANA's special-purpose registries, and IPv6 prefixes that embed IPv4 addresses. */
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

/** An IPv4 address mapped into IPv6 counts as IPv4. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && !notPublic.check(address, version === 6 ? "ipv6" : "ipv4");
}

/** The sink's host name has only private addresses, which the operator has not allowed. */
export class PrivateAddressError extends Error {
  override name = "PrivateAddressError";
}

/** True for an IP address or `localhost`, which the operator chose themselves. */
export function namesItsAddress(url: URL): boolean {
  return isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0 || url.hostname === "localhost";
}

/**
 * A `dns.lookup` with public addresses only. Connections go to the checked addresses, so DNS rebinding has no effect.
 */
export function publicLookup(resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, "", 0);
      const allowed = (found as LookupAddress[]).filter(({ address }) => isPublicAddress(address));
      const [first] = allowed;
      if (!first) return callback(new PrivateAddressError("the sink's host name resolves to a private address"), "", 0);
      if (options.all) return callback(null, allowed);
      return callback(null, first.address, first.family);
    });
  };
}
