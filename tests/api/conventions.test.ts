import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { operations } from "#lib/api/operations";
import { limits } from "#lib/core/limits";
import { shapes } from "../support/openapi.ts";
import { get, post, provideOwnedServer, someAddress } from "../support/server.ts";
import { noId, routes } from "./calls.ts";
import {
  asResponse,
  bearer,
  expectApiHeaders,
  expectProblem,
  openRequest,
  openSocket,
  sessionCookie,
} from "./client.ts";

const { server, token } = await provideOwnedServer({ worker: false });
const { getAnswer } = shapes(await (await get(server, "/api/openapi.json")).json());

const uuid = /^[0-9a-f-]{36}$/;
const usualMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const listMethods = (allow: string | null | undefined) => allow?.split(", ").toSorted();

async function ask(path: string, method = "GET", headers: Record<string, string> = {}): Promise<Response> {
  const { request, answer } = openRequest(server, path, { method, headers });
  request.end();
  return asResponse(await answer);
}

describe("a method that a path does not take", () => {
  test.each(routes)("$path answers 405 with the supported methods in Allow", async ({ path, methods }) => {
    for (const method of usualMethods.filter((one) => !methods.includes(one))) {
      const response = await fetch(server.url + path, { method, headers: bearer(token) });
      if (method === "HEAD") {
        expect(response.status).toBe(405);
        expectApiHeaders(response.headers);
      } else await expectProblem(response, 405, "method_not_allowed");
      expect(listMethods(response.headers.get("allow"))).toEqual([...methods, "OPTIONS"].toSorted());
    }
  });

  test("is HEAD where a GET changes something: the poll redeems the code, and a call of cron processes uploads", () => {
    const changing = operations.filter(({ about }) => about.head === false && !about.foreign);
    expect(changing.map(({ path }) => path)).toEqual(["/api/cli/device/poll", "/api/cron"]);
  });

  test.each(["PROPFIND", "TRACE", "QUERY"])("is one outside HTTP's usual ones (%s) as well", async (method) => {
    for (const path of ["/api/limits", "/api/ingest", "/sign-in"])
      await expectProblem(await ask(path, method), 405, "method_not_allowed");
  });

  test.each(routes)(
    "OPTIONS on $path lists its methods, as the document does",
    async ({ path, operation, methods }) => {
      const response = await fetch(server.url + path, { method: "OPTIONS" });
      expect(response.status).toBe(204);
      expectApiHeaders(response.headers);
      expect(listMethods(response.headers.get("allow"))).toEqual([...methods, "OPTIONS"].toSorted());
      if (operation.about.foreign) return;
      const documented = getAnswer(operation.path, "options", "204")?.headers?.Allow?.example;
      expect(listMethods(documented)).toEqual([...methods, "OPTIONS"].toSorted());
    },
  );
});

describe("a method that no file or page takes", () => {
  const send = (path: string, method: string) => fetch(server.url + path, { method, redirect: "manual" });
  const others = (taken: string[]) => [...usualMethods, "OPTIONS"].filter((method) => !taken.includes(method));

  test("is a 405 for every file of public/ and for the scripts of pages, however their names are written", async () => {
    const scripts = [...(await (await ask("/sign-in")).text()).matchAll(/"(\/_next\/static\/[^"?]+)/g)];
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

describe("an unknown path", () => {
  const unknown = [
    "/api",
    "/api/nothing",
    "/api/nothing/at/all",
    "/api/ingest/a/b",
    "/api/v1/ingest",
    "/api/cli",
    `/api/traces/${noId}/nothing`,
    "/api/Ingest",
    "/api/%E0%A4%A",
    "/api/ingest/%zz",
    "/api/traces/%00",
    "/api/traces/..%2f..%2fhealth",
    "/api//limits",
    "/api/limits//",
  ];
  test.each(unknown)("%s is a 404 in the form of every error, for every method", async (path) => {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const response = await ask(path, method, bearer(token));
      const isId = /^\/api\/(ingest|traces)\/[^/]+$/.test(path);
      if (isId && response.status === 405) await expectProblem(response, 405, "method_not_allowed");
      else await expectProblem(response, 404, "not_found");
    }
  });

  test("a path with a slash at its end answers with the headers of every API response", async () => {
    const response = await fetch(`${server.url}/api/limits/`, { redirect: "manual" });
    expectApiHeaders(response.headers);
  });
});

describe("a path outside the API with nothing behind it", () => {
  test.each([
    ..."/favicon.ico /nothing /_next/x /_next/static/chunks/missing.js /%zz /%E0%A4%A /a%00b".split(" "),
    ..."/_global-error /%5Fglobal-error/ /_not-found".split(" "),
  ])("%s is a 404 with a body, a request id and the headers of a page", async (path) => {
    for (const method of path.startsWith("/_next/static/") ? ["GET"] : ["GET", "POST"]) {
      const response = await ask(path, method);
      expect(response.status).toBe(404);
      expect(response.headers.get("x-request-id")).toMatch(uuid);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("cache-control")).toContain("no-store");
      if (response.headers.get("content-type")?.startsWith("text/html")) {
        expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      }
      expect((await response.text()).length).toBeGreaterThan(8);
    }
    const head = await ask(path, "HEAD");
    expect([head.status, await head.text()]).toEqual([404, ""]);
  });
});

describe("a request that Next or Node would answer in a form of their own", () => {
  test.each([
    ["an unknown expectation", { Expect: "200-maybe" }],
    ["the header of Next's own client", { RSC: "1" }],
  ])("%s is answered as it is", async (_, headers) => {
    const response = await ask("/api/limits", "GET", headers);
    expect(response.status).toBe(200);
    expectApiHeaders(response.headers);
  });

  test.each([
    "OPTIONS *",
    "GET http://localhost/api/limits",
    "GET https://evil.example",
    "POST ftp://localhost/sign-in",
  ])("%s, which is no path, is a 404", async (line) => {
    const { socket, ended } = await openSocket(server);
    socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(await ended).toMatch(/^HTTP\/1\.1 404 .*x-request-id: .*"not_found"/is);
  });
});

test("a URL of more parameters than a page or route has is a 400, and one of as many is read", async () => {
  const parameters = (count: number) => "a&".repeat(count - 1);
  for (const path of ["/sign-in", "/api/limits", "/spoor.mjs", "/mcp"]) {
    await expectProblem(await ask(`${path}?${parameters(limits.request.parameters + 1)}`), 400, "invalid_request");
    expect([path, (await ask(`${path}?${parameters(limits.request.parameters)}`)).status]).not.toEqual([path, 400]);
  }
});

describe("every answer", () => {
  test("of a success has its own request id and is not stored by caches", async () => {
    const answers = [
      await get(server, "/api/limits"),
      await get(server, "/api/health"),
      await get(server, "/api/ready"),
      await get(server, "/api/cli/session", token),
      await get(server, "/api/traces", token),
      await get(server, "/api/traces/export", token),
      await post(server, "/api/cli/device/start", { machine: "m" }, { "X-Forwarded-For": someAddress() }),
      await post(server, "/api/ingest", { traces: [] }, bearer(token)),
    ];
    for (const { headers } of answers) expectApiHeaders(headers);
    expect(new Set(answers.map(({ headers }) => headers.get("x-request-id"))).size).toBe(answers.length);
  });

  test("has a request id that the client cannot choose", async () => {
    const headers = { "X-Request-Id": "mine", "X-Spoor-Request-Id": noId };
    const response = await fetch(`${server.url}/api/limits`, { headers });
    expectApiHeaders(response.headers);
    expect(response.headers.get("x-request-id")).not.toBe(noId);
  });

  test("names a request the same in its body, with a cookie as well", async () => {
    const bare = await fetch(`${server.url}/api/traces/facets`, { headers: { Cookie: "authlib.session_token=none" } });
    const wrong = await fetch(`${server.url}/api/traces/facets`, {
      method: "DELETE",
      headers: { Cookie: await sessionCookie(server) },
    });
    await expectProblem(bare, 401, "missing_token");
    await expectProblem(wrong, 405, "method_not_allowed");
  });

  test("of a page carries a request id", async () => {
    const response = await fetch(`${server.url}/`, { redirect: "manual" });
    expect(response.headers.get("x-request-id")).toMatch(uuid);
  });

  test("of better-auth carries a request id as well", async () => {
    for (const path of ["/api/auth/get-session", "/api/auth/nothing"])
      expect((await ask(path)).headers.get("x-request-id")).toMatch(uuid);
  });

  test("to HEAD has a GET's status and headers and no body", async () => {
    for (const path of ["/api/limits", "/api/traces", "/api/traces/export", "/api/nothing"]) {
      const [head, whole] = await Promise.all(
        ["HEAD", "GET"].map((method) => fetch(server.url + path, { method, headers: bearer(token) })),
      );
      expect(head?.status).toBe(whole?.status);
      expect(head?.headers.get("content-type")).toBe(whole?.headers.get("content-type"));
      expect(await head?.text()).toBe("");
      await whole?.text();
    }
  });

  test("of a validation names the paths, at most 20, and no other error has them", async () => {
    const invalid = await expectProblem(await get(server, "/api/traces?limit=0&from=x", token), 400, "invalid_request");
    expect(invalid.errors?.map(({ path }) => path).toSorted()).toEqual(["from", "limit"]);
    const missing = await expectProblem(await get(server, `/api/traces/${noId}`, token), 404, "not_found");
    expect(missing).not.toHaveProperty("errors");
  });
});

test("the sheet of agents' icons is kept by caches and asked for again", async () => {
  const { status, headers } = await get(server, "/agents.svg");
  expect([status, headers.get("content-type")]).toEqual([200, "image/svg+xml; charset=utf-8"]);
  expect(headers.get("cache-control")).toBe("public, max-age=3600, stale-while-revalidate=2592000");
  expect(headers.get("content-security-policy")).toContain("default-src 'none'");
});
