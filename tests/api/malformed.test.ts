import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { limits } from "#lib/limits";
import { provideServer } from "../support/server.ts";
import { asResponse, expectProblem, openRequest, openSocket } from "./client.ts";

const server = await provideServer({ worker: false });

/** What came back on a bare connection, as a response. */
function parseResponse(raw: string): Response {
  const [head = "", ...rest] = raw.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = new Headers(lines.map((line) => [line.split(": ", 1)[0] ?? "", line.slice(line.indexOf(": ") + 2)]));
  const body = rest.join("\r\n\r\n");
  // Of a chunked body the sizes stand on lines of their own.
  const text = headers.has("transfer-encoding") ? body.replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, "") : body;
  return new Response(text, { status: Number(first.split(" ")[1]), headers });
}

/** Sends bytes as they are. */
async function exchange(bytes: string): Promise<Response> {
  const { socket, ended } = await openSocket(server);
  socket.write(bytes);
  return parseResponse(await ended);
}

const get = async (path: string, method = "GET") => {
  const { request, answer } = openRequest(server, path, { method });
  request.end();
  return asResponse(await answer);
};

const uuid = /^[0-9a-f-]{36}$/;

describe("a path outside the API with nothing behind it", () => {
  test.each([
    ..."/favicon.ico /nothing /_next/x /_next/static/chunks/missing.js /%zz /%E0%A4%A /a%00b".split(" "),
    ..."/_global-error /%5Fglobal-error/ /_not-found".split(" "),
  ])("%s is a 404 with a body, a request id and the headers of a page", async (path) => {
    for (const method of ["GET", "POST"]) {
      const response = await get(path, method);
      expect(response.status).toBe(404);
      expect(response.headers.get("x-request-id")).toMatch(uuid);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("cache-control")).toContain("no-store");
      if (response.headers.get("content-type")?.startsWith("text/html")) {
        expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      }
      expect((await response.text()).length).toBeGreaterThan(8);
    }
    const head = await get(path, "HEAD");
    expect([head.status, await head.text()]).toEqual([404, ""]);
  });
});

describe("a method that no file or page takes", () => {
  const send = (path: string, method: string) => fetch(server.url + path, { method, redirect: "manual" });
  const others = (taken: string[]) =>
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].filter((method) => !taken.includes(method));

  test("is a 405 for every file of public/ and for the scripts of pages, however their names are written", async () => {
    const scripts = [...(await (await get("/sign-in")).text()).matchAll(/"(\/_next\/static\/[^"?]+)/g)];
    const own = readdirSync("public").flatMap((name) => [`/${name}`, `/${name}/`, `/${name}?x`]);
    const paths = [...own, "/%69con.svg", ...scripts.slice(0, 3).map(([, path = ""]) => path)];
    expect(paths.length).toBeGreaterThan(8);
    for (const path of paths) {
      expect([path, (await send(path, "HEAD")).status]).toEqual([path, 200]);
      for (const method of others(["GET", "HEAD"])) {
        const response = await send(path, method);
        expect([path, response.headers.get("allow")]).toEqual([path, "GET, HEAD"]);
        await expectProblem(response, 405, "method_not_allowed");
      }
    }
  });

  test.each(["/", "/sign-in", "/traces", "/oauth/authorize", "/docs", "/nothing"])(
    "is a 405 for the page %s",
    async (path) => {
      for (const method of others(["GET", "HEAD", "POST"])) {
        const response = await send(path, method);
        expect(response.headers.get("allow")).toBe("GET, HEAD, POST");
        await expectProblem(response, 405, "method_not_allowed");
      }
      for (const method of ["GET", "HEAD", "POST"]) expect((await send(path, method)).status).not.toBe(405);
    },
  );

  test("is a 405 of the client's own route handler", async () => {
    expect((await send("/spoor.mjs", "OPTIONS")).status).toBe(204);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const response = await send("/spoor.mjs", method);
      expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
      await expectProblem(response, 405, "method_not_allowed");
    }
  });
});

test("a URL of more parameters than a page or route has is a 400, and one of as many is read", async () => {
  const parameters = (count: number) => "a&".repeat(count - 1);
  for (const path of ["/sign-in", "/api/limits", "/spoor.mjs", "/mcp"]) {
    await expectProblem(await get(`${path}?${parameters(limits.request.parameters + 1)}`), 400, "invalid_request");
    expect([path, (await get(`${path}?${parameters(limits.request.parameters)}`)).status]).not.toEqual([path, 400]);
  }
});

describe("what Node's parser refuses is answered by Node, and the connection is closed", () => {
  test.each([
    ["an unknown method", 400, "FOO /api/limits HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["bytes that are no HTTP", 400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
    ["a header without a colon", 400, "GET /api/limits HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n"],
    ["two lengths", 400, "POST /api/ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
    ["no Host", 400, "GET /api/limits HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["a head of over 16 KiB", 431, `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`],
  ])("%s", async (_, status, bytes) => {
    const response = await exchange(bytes);
    expect([response.status, (await response.text()).trim()]).toEqual([status, ""]);
  });

  test("CONNECT gets no answer", async () => {
    const { socket, ended } = await openSocket(server);
    socket.write("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n");
    expect(await ended).toBe("");
  });
});

test("better-auth's responses carry a request id as well", async () => {
  for (const path of ["/api/auth/get-session", "/api/auth/nothing"]) {
    expect((await get(path)).headers.get("x-request-id")).toMatch(uuid);
  }
});
