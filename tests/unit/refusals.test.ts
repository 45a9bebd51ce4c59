// What is answered on a connection where Node's parser refused something behind requests that are still worked on.
import { once } from "node:events";
import { createServer, IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { refusalOf, refuseTunnel, refuseUnparsed } from "#lib/server/refusals";

const open = new Set<ServerResponse>();
const openOn = (socket: Duplex) => [...open].filter(({ req }) => req.socket === socket);
const large = 8 << 20;

/** Answers once the body has come, `/slow` a little later, `/early` before that, `/large` with a lot. */
const server = createServer(async (request, response) => {
  open.add(response);
  response.once("close", () => open.delete(response));
  const { url = "" } = request;
  if (url === "/early") return void response.writeHead(413).end("early");
  const whole = new Promise<boolean>((resolve) =>
    request
      .resume()
      .once("end", () => resolve(true))
      .once("error", () => resolve(false)),
  );
  if (!(await whole)) return;
  if (url === "/slow") await sleep(100);
  response.end(url === "/large" ? Buffer.alloc(large, "x") : url);
});
Object.assign(server, { httpAllowHalfOpen: true });
server.on("clientError", (error, socket) => refuseUnparsed(error, socket, openOn(socket)));
server.on("connect", (_request, socket) => refuseTunnel(socket, openOn(socket)));

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const head = (line: string, more = "") => `${line} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const whole = (path: string, more = "") => `${head(`POST ${path}`, `Content-Length: 2\r\n${more}`)}{}`;
const broken = (path: string) => `${head(`POST ${path}`, "Transfer-Encoding: chunked\r\n")}2\r\n{}\r\nnonsense`;

const dial = () => connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });

/** Sends each part in a packet of its own. @returns the status of each response, and what they said */
async function answersTo(parts: string[], end = false): Promise<[status: number, text: string][]> {
  const socket = dial().setEncoding("latin1");
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (chunk: string) => {
    text += chunk;
  });
  socket.once("end", () => socket.destroy());
  for (const part of parts) {
    socket.write(part);
    await sleep(10);
  }
  if (end) socket.end();
  if (!socket.closed) await once(socket, "close");
  return text.split(/(?=HTTP\/1\.1 )/).map((one) => [Number(one.slice(9, 12)), one.split("\r\n\r\n")[1] ?? ""]);
}

const statuses = async (parts: string[], end?: boolean) => (await answersTo(parts, end)).map(([status]) => status);

describe("bytes that are no HTTP", () => {
  test.each([
    ["in a packet of their own", [whole("/slow"), "junk"]],
    ["in several", [whole("/slow"), "junk", "junk", "\r\n\r\njunk"]],
    ["in the same packet", [`${whole("/slow")}junk`]],
  ])("%s are answered behind the request before them", async (_, parts) => {
    const answers = await answersTo(parts);
    expect(answers.map(([status]) => status)).toEqual([200, 400]);
    expect(answers[0]?.[1]).toBe("/slow");
  });

  test("are answered behind all requests that have come whole, in their order", async () => {
    const parts = [`${whole("/slow")}${whole("/b")}${whole("/slow")}${whole("/d")}junk`];
    const answers = await answersTo(parts);
    expect(answers.slice(0, 4)).toEqual(["/slow", "/b", "/slow", "/d"].map((path) => [200, path]));
    expect(answers.slice(4).map(([status]) => status)).toEqual([400]);
  });

  test("are answered where their sender has closed its half", async () => {
    expect(await statuses([`${whole("/slow")}junk`], true)).toEqual([200, 400]);
  });

  test("behind a response that is being sent don't cut it off", async () => {
    const [first, second] = await answersTo([whole("/large"), "junk"]);
    expect([first?.[0], first?.[1].length, second?.[0]]).toEqual([200, large, 400]);
  });

  test("behind a request with Connection: close are not answered", async () => {
    expect(await statuses([`${whole("/slow", "Connection: close\r\n")}junk`])).toEqual([200]);
  });

  test("that go on after the last response don't reset the connection before it is read", async () => {
    expect(await statuses([`${whole("/slow")}junk`, ...Array<string>(20).fill("x".repeat(50_000))])).toEqual([
      200, 400,
    ]);
  });
});

describe("a request that breaks off in its body", () => {
  test("is answered in its place", async () => {
    expect(await statuses([broken("/slow")])).toEqual([400]);
    expect(await statuses([whole("/slow") + broken("/slow")])).toEqual([200, 400]);
  });

  test("and was answered before it broke gets nothing more", async () => {
    expect(await statuses([whole("/slow") + broken("/early")])).toEqual([200, 413]);
  });
});

test.each(["FOO", "GE", "GETS", "M-SEARCHES"])(
  "the unknown method %s behind a request is a 405 of its own",
  async (method) => {
    expect(await statuses([whole("/slow") + head(`${method} /x`)])).toEqual([200, 405]);
  },
);

test("CONNECT is answered behind the request before it", async () => {
  expect(await statuses([whole("/slow") + head("CONNECT x:443")])).toEqual([200, 405]);
});

test("a client that is gone leaves nothing open", async () => {
  for (const leave of ["destroy", "resetAndDestroy"] as const) {
    const socket = dial();
    socket.write(`${whole("/slow")}${whole("/slow")}junk`);
    await sleep(20);
    socket[leave]();
  }
  await expect.poll(() => open.size).toBe(0);
  const { promise, resolve } = Promise.withResolvers<number>();
  server.getConnections((_, count) => resolve(count));
  expect(await promise).toBe(0);
});

test.each(["/shared/%E0%A4%A", "/traces/%ff?at=1", "/pull/a/%/1", "/api/traces/%ff"])(
  "a path with an escape of no character, %s, is missing, for pages as well",
  (url) => {
    const request = Object.assign(new IncomingMessage(new Socket()), { method: "GET", url, httpVersion: "1.0" });
    expect(refusalOf(request, "id", new Set())?.status).toBe(404);
  },
);
