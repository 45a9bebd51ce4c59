import { expect, test } from "vitest";
import { getNetwork, getSite } from "#lib/http/address";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["unknown", "unknown"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:0db8:0001:0002::", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
])("%s counts as %s", (address, network) => {
  expect(getNetwork(address)).toBe(network);
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["unknown", "unknown"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
  ["2001:0db8:0001:ffff::", "2001:db8:1::/48"],
  ["::1", "0:0:0::/48"],
])("%s is of the site %s", (address, site) => {
  expect(getSite(address)).toBe(site);
});
