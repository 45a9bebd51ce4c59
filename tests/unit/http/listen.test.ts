import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { chooseAddresses, listenAt, warnAboutHttp } from "#server/http/listen";

const loopback = ["127.0.0.1", "::1"];
const local = [
  "http://localhost:3000",
  "https://localhost",
  "http://spoor.localhost:8080",
  "http://127.0.0.1",
  "http://127.9.9.9:1",
  "http://[::1]:3000",
];
const public_ = [
  "http://nas.lan:3000",
  "http://192.168.1.5",
  "http://localhost.example.org",
  "http://127.0.0.1.example.org",
  "http://[fd00::1]",
];

test.each(local)("while BASE_URL is %s, the server listens on loopback", (BASE_URL) => {
  expect(chooseAddresses({ HOST: undefined, BASE_URL })).toEqual(loopback);
  expect(chooseAddresses({ HOST: "0.0.0.0", BASE_URL })).toEqual(["0.0.0.0"]);
  expect(warnAboutHttp(BASE_URL)).toBeUndefined();
});

test.each(public_)("with BASE_URL %s it listens everywhere, and warns of plain http", (BASE_URL) => {
  expect(chooseAddresses({ HOST: undefined, BASE_URL })).toEqual([undefined]);
  expect(chooseAddresses({ HOST: "::1", BASE_URL })).toEqual(["::1"]);
  expect(warnAboutHttp(BASE_URL)).toContain(`BASE_URL is ${BASE_URL}`);
  expect(warnAboutHttp(BASE_URL.replace("http:", "https:"))).toBeUndefined();
});

async function listen(addresses: string[], port = 0) {
  const server = createServer((_, response) => response.end("hello"));
  const closeOthers = await listenAt(server, port, addresses);
  onTestFinished(() => {
    closeOthers();
    server.close();
    server.closeAllConnections();
  });
  return { server, closeOthers, port: (server.address() as AddressInfo).port };
}

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

test.skipIf(!hasIpv6)("one server answers at both addresses with one port, until it is closed", async () => {
  const { server, closeOthers, port } = await listen(loopback);
  for (const host of ["127.0.0.1", "[::1]"]) expect(await (await fetch(`http://${host}:${port}`)).text()).toBe("hello");
  const half = connect(port, "::1").end("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  Object.assign(server, { httpAllowHalfOpen: true });
  const [bytes] = await once(half, "data");
  expect(String(bytes)).toContain("200 OK");
  closeOthers();
  server.close();
  server.closeAllConnections();
  for (const host of ["127.0.0.1", "[::1]"]) await expect(fetch(`http://${host}:${port}`)).rejects.toThrow();
});

test("an address that the machine does not have is left out, a port that is taken is an error", async () => {
  const { port } = await listen(["127.0.0.1", "2001:db8::1"]);
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200);
  await expect(listen(["127.0.0.1"], port)).rejects.toThrow("EADDRINUSE");
  if (hasIpv6) {
    const first = await listen(["::1"]);
    await expect(listen(["127.0.0.1", "::1"], first.port)).rejects.toThrow("EADDRINUSE");
  }
});
