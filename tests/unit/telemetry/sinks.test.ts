import type { lookup } from "node:dns";
import { describe, expect, test } from "vitest";
import { isPublicAddress, namesItsAddress } from "#lib/telemetry/addresses";
import { backoffSeconds, judgeAnswer } from "#lib/telemetry/forward";
import { post, retryAfter } from "#lib/telemetry/post";
import { appendPath } from "#lib/telemetry/sink";
import { startSink } from "../../support/sink.ts";

describe("an address", () => {
  test.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "255.255.255.255",
    "224.0.0.1",
    "::1",
    "::",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "ff02::1",
    "not an address",
  ])("%s is not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(["1.1.1.1", "172.32.0.1", "192.169.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:1.1.1.1"])(
    "%s is public",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test.each<[string, boolean]>([
    ["http://127.0.0.1:4318", true],
    ["http://2130706433/", true],
    ["http://[::1]:4318", true],
    ["http://localhost", true],
    ["https://sink.example", false],
    ["https://localhost.example", false],
    ["https://127.0.0.1.example", false],
  ])("%s names its own: %j", (url, expected) => {
    expect(namesItsAddress(new URL(url))).toBe(expected);
  });
});

/** A resolver that returns these addresses for every name. */
const resolver = (...addresses: string[]) =>
  ((_name: string, _options: object, callback: (error: null, found: object[]) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    )) as unknown as typeof lookup;

describe("a name that resolves to a private address", () => {
  const request = (port: number) => ({ url: `http://sink.example:${port}/`, headers: {}, body: "{}" });

  test("is refused on connecting, while an address that the operator named is reached", async () => {
    const sink = await startSink();
    const settings = { timeoutMs: 2000, resolve: resolver("127.0.0.1", "10.0.0.1") };
    await expect(post(request(sink.port), { ...settings, allowPrivate: false })).rejects.toThrow(/private address/);
    expect(sink.got).toEqual([]);
    const named = { ...request(sink.port), url: sink.url };
    expect(await post(named, { ...settings, allowPrivate: false })).toMatchObject({ status: 200 });
    await sink.stop();
  });
});

test("Retry-After is read as seconds or a date", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  expect(retryAfter("120", now)).toBe(120);
  expect(retryAfter("Sat, 21 Nov 2026 12:02:00 GMT", now)).toBe(120);
  expect(retryAfter("Sat, 21 Nov 2026 11:00:00 GMT", now)).toBe(0);
  for (const value of ["soon", "-1", "", undefined]) expect(retryAfter(value, now)).toBeUndefined();
});

test.each<[number, string]>([
  [200, "delivered"],
  [204, "delivered"],
  [301, "later"],
  [308, "later"],
  [400, "dropped"],
  [403, "dropped"],
  [408, "later"],
  [410, "disabled"],
  [429, "later"],
  [500, "later"],
  [503, "later"],
])("a response of %i means: %s", (status, outcome) => {
  expect(judgeAnswer({ status, retryAfterSeconds: undefined }).outcome).toBe(outcome);
});

test("the backoff doubles up to an hour, with a jitter of up to a half", () => {
  expect([1, 2, 3, 9, 10, 1000].map((attempts) => backoffSeconds(attempts, 1))).toEqual([10, 20, 40, 2560, 3600, 3600]);
  expect(backoffSeconds(1, 0)).toBe(5);
});

test.each([
  ["https://x.example", "https://x.example/batch/"],
  ["https://x.example/", "https://x.example/batch/"],
  ["https://x.example/batch", "https://x.example/batch"],
  ["https://x.example/ingest/", "https://x.example/ingest/batch/"],
  ["https://x.example/?a=1", "https://x.example/batch/?a=1"],
])("%s becomes %s", (given, expected) => {
  expect(appendPath(given, "/batch/")).toBe(expected);
});
