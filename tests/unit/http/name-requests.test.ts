import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requestIdHeader } from "#lib/http/headers";
import { nameRequests } from "#server/http/bare";

const forged = "01900000-0000-7000-8000-000000000000";
const server = createServer(({ url, headers }, response) => response.end(`${url} ${headers[requestIdHeader]}`));

beforeAll(async () => {
  nameRequests();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => server.close());

/** What a listener of the platform's gets to see of a request. */
async function seen(path: string): Promise<string[]> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.end(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Spoor-Request-Id: ${forged}\r\nConnection: close\r\n\r\n`);
  const [, body = ""] = (await socket.setEncoding("utf8").toArray()).join("").split("\r\n\r\n");
  return body.replace(/^[0-9a-f]+\r\n/, "").split(" ");
}

test.each([
  ["/api/%zz", "/api/refused"],
  ["/api//limits", "/api/refused"],
  ["/api/limits?q=%zz", "/api/limits?q=%zz"],
  ["/traces//x", "/traces//x"],
])("%s is seen as %s, with an id that the client did not choose", async (path, url) => {
  const [first, second] = [await seen(path), await seen(path)];
  expect(first[0]).toBe(url);
  expect(first[1]).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}/);
  expect(new Set([forged, first[1], second[1]]).size).toBe(3);
});
