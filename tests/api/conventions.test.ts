import { describe, expect, test } from "vitest";
import { operations } from "#lib/api/operations";
import type { Operation } from "#lib/http/operation";
import { get, post, provideOwnedServer, someAddress } from "../support/server.ts";
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

const id = "01900000-0000-7000-8000-000000000000";

/** A HEAD must never run these: the poll after the approval redeems the code, and a call of cron processes uploads. */
const withoutHead = ["/api/cron", "/api/cli/device/poll"];
/** The paths that are answered by others. */
const aliases: Record<string, string> = {
  "/mcp": "/api/mcp",
  "/.well-known/oauth-protected-resource/mcp": "/api/oauth/resource",
  "/.well-known/oauth-authorization-server": "/api/oauth/server",
};

const documented = Map.groupBy(operations, ({ path }) => path);
const listMethods = (path: string) => {
  const methods: string[] = (documented.get(path as Operation["path"]) ?? []).flatMap(({ methods }) => methods);
  return methods.includes("GET") && !withoutHead.includes(path) ? [...methods, "HEAD"] : methods;
};

/** Every route of ours with the methods it takes. better-auth answers for its own. */
const routes: [path: string, methods: string[]][] = [
  ...[...documented.keys()]
    .filter((path) => path !== "/api/auth/{path}")
    .map((path): [string, string[]] => [path.replace(/\{\w+\}/g, id), listMethods(path)]),
  ...Object.entries(aliases).map(([path, own]): [string, string[]] => [path, listMethods(own)]),
];

describe("a method that a path does not take", () => {
  test.each(routes)("%s answers 405 with the supported methods in Allow", async (path, taken) => {
    const wrong = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].filter((method) => !taken.includes(method));
    for (const method of wrong) {
      const response = await fetch(server.url + path, { method, headers: bearer(token) });
      if (method === "HEAD") {
        expect(response.status).toBe(405);
        expectApiHeaders(response.headers);
      } else await expectProblem(response, 405, "method_not_allowed");
      expect(response.headers.get("allow")?.split(", ").toSorted()).toEqual([...taken, "OPTIONS"].toSorted());
    }
  });

  test.each(["PROPFIND", "TRACE", "QUERY"])(
    "a method outside HTTP's usual ones (%s) is a 405 as well",
    async (method) => {
      for (const path of ["/api/limits", "/api/ingest"]) {
        const { request, answer } = openRequest(server, path, { method });
        request.end();
        await expectProblem(asResponse(await answer), 405, "method_not_allowed");
      }
    },
  );

  test.each(routes)("OPTIONS on %s lists its methods", async (path, taken) => {
    const response = await fetch(server.url + path, { method: "OPTIONS" });
    expect(response.status).toBe(204);
    expectApiHeaders(response.headers);
    expect(response.headers.get("allow")?.split(", ").toSorted()).toEqual([...taken, "OPTIONS"].toSorted());
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
    `/api/traces/${id}/nothing`,
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
      const { request, answer } = openRequest(server, path, { method, headers: bearer(token) });
      request.end();
      const response = asResponse(await answer);
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

describe("a request that Next or Node would answer in a form of their own", () => {
  test.each([
    ["an unknown expectation", { Expect: "200-maybe" }],
    ["the header of Next's own client", { RSC: "1" }],
  ])("%s is answered as it is", async (_, headers) => {
    const { request, answer } = openRequest(server, "/api/limits", { method: "GET", headers });
    request.end();
    const response = asResponse(await answer);
    expect(response.status).toBe(200);
    expectApiHeaders(response.headers);
  });

  test("a page asked for with TRACE is a 405", async () => {
    const { request, answer } = openRequest(server, "/sign-in", { method: "TRACE" });
    request.end();
    await expectProblem(asResponse(await answer), 405, "method_not_allowed");
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
    const headers = { "X-Request-Id": "mine", "X-Spoor-Request-Id": id };
    const response = await fetch(`${server.url}/api/limits`, { headers });
    expectApiHeaders(response.headers);
    expect(response.headers.get("x-request-id")).not.toBe(id);
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
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
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
    const missing = await expectProblem(await get(server, `/api/traces/${id}`, token), 404, "not_found");
    expect(missing).not.toHaveProperty("errors");
  });
});

test("the sheet of agents' icons is kept by caches and asked for again", async () => {
  const { status, headers } = await get(server, "/agents.svg");
  expect([status, headers.get("content-type")]).toEqual([200, "image/svg+xml; charset=utf-8"]);
  expect(headers.get("cache-control")).toBe("public, max-age=3600, stale-while-revalidate=2592000");
  expect(headers.get("content-security-policy")).toContain("default-src 'none'");
});

describe("a JSON body", () => {
  const paths = ["/api/ingest", "/api/cli/device/start", "/api/cli/telemetry"];
  const send = (path: string, headers: Record<string, string>, body: BodyInit) =>
    fetch(server.url + path, {
      method: "POST",
      headers: { ...bearer(token), "X-Forwarded-For": someAddress(), ...headers },
      body,
    });

  test.each(paths)("%s refuses one that is not declared as JSON", async (path) => {
    const wrong = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonx",
      "application/json-seq",
      "json",
    ];
    for (const type of wrong) {
      await expectProblem(await send(path, { "Content-Type": type }, "{}"), 415, "unsupported_media_type");
    }
    await expectProblem(await send(path, {}, new Uint8Array([123, 125])), 415, "unsupported_media_type");
  });

  test.each(paths)("%s accepts the type with parameters and in any case", async (path) => {
    for (const type of ["application/json; charset=utf-8", "Application/JSON;charset=UTF-8", "application/json ;x=y"]) {
      await expectProblem(await send(path, { "Content-Type": type }, "{}"), 400, "invalid_request");
    }
  });

  test.each(paths)("%s refuses text that is not JSON in UTF-8 and echoes nothing of it", async (path) => {
    const bodies = ["", "canary", '{"canary":', '{"machine":"canary"} x', new Uint8Array([34, 255, 34])];
    for (const body of bodies) {
      const response = await send(path, { "Content-Type": "application/json" }, body);
      const { detail } = await expectProblem(response, 400, "invalid_json");
      expect(detail).not.toContain("canary");
    }
  });
});
