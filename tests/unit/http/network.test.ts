import { expect, test } from "vitest";
import { clientAddressHeader, trustClientAddressHeader } from "#lib/http/address";
import { isSameNetwork } from "../../../app/device/stage.ts";

trustClientAddressHeader();

const from = (address: string, forwarded = address) =>
  new Headers({ [clientAddressHeader]: address, "X-Forwarded-For": forwarded });

test.each([
  ["203.0.113.7", "203.0.113.7", true],
  ["203.0.113.7", "203.0.113.8", false],
  ["192.168.1.2", "192.168.1.3", false],
  ["127.0.0.1", "::1", true],
  ["127.0.0.1", "127.8.8.8", true],
  ["2001:db8:1:2::7", "2001:db8:1:2:aaaa::1", true],
  ["2001:db8:1:2::7", "2001:db8:1:3::7", false],
  ["2001:db8::7", "203.0.113.7", false],
  ["unknown", "unknown", false],
  ["the server itself", "unknown", false],
])("a login from %s and a browser at %s are on one network: %s", (one, other, same) => {
  expect(isSameNetwork(one, from(other))).toBe(same);
});

test("behind a proxy that is not trusted nobody is on the network of anybody", () => {
  expect(isSameNetwork("10.0.0.2", from("10.0.0.2", "203.0.113.7"))).toBe(false);
  expect(isSameNetwork("127.0.0.1", from("127.0.0.1", "198.51.100.1, 203.0.113.7"))).toBe(false);
});

test("behind a trusted proxy, and before one of the browser's own, the network is that of the address which counts", () => {
  expect(isSameNetwork("203.0.113.7", from("203.0.113.7", "10.1.1.1, 203.0.113.7, 10.0.0.2"))).toBe(true);
  expect(isSameNetwork("127.0.0.1", from("127.0.0.1", "::ffff:127.0.0.1"))).toBe(true);
  expect(isSameNetwork("fe80::1", from("fe80::1", "fe80::1%eth0"))).toBe(true);
});
