import { describe, expect, test } from "vitest";
import { scopes } from "#lib/core/fields";
import { get, ingest, logIn, provideOwnedServer } from "../support/server.ts";
import { asResponse, bearer, expectProblem, openRequest, sessionCookie, withoutRequestId } from "./client.ts";

const { server, userId, token } = await provideOwnedServer();
const document = await (await get(server, "/api/openapi.json")).json();
await ingest(server, token, [{ sourceId: "one", messages: [{ position: 0, content: "hello" }] }]);
const { traces } = await (await get(server, "/api/traces", token)).json();

type Described = { security?: Record<string, string[]>[] };

/** Every operation of the document that a token opens, with the scope that it names. */
const opened = Object.entries(document.paths as Record<string, Record<string, Described>>).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, { security = [] }]) => {
    const way = security.find((one) => one.token);
    return way && security[0]?.token ? [{ method: method.toUpperCase(), path, needed: way.token?.[0] }] : [];
  }),
);

const insufficient = 'Bearer realm="spoor", error="insufficient_scope"';

/** A call; the body of a POST is announced and never sent. */
async function call(path: string, method: string, headers: Record<string, string>): Promise<Response> {
  if (method !== "POST") return fetch(server.url + path, { method, headers });
  const { request, answer } = openRequest(server, path, { headers: { ...headers, "Content-Length": "1000000" } });
  request.flushHeaders();
  try {
    return asResponse(await answer);
  } finally {
    request.destroy();
  }
}

const named = (path: string, id: string) => path.replace("{sha256}", "a".repeat(64)).replace(/\{\w+\}/g, id);

test("every operation that a token opens names its scope, except for the token's own", () => {
  const unscoped = opened.filter(({ needed }) => !needed).map(({ method, path }) => `${method} ${path}`);
  expect(unscoped.toSorted()).toEqual(["DELETE /api/cli/session", "GET /api/cli/session"]);
  const needing = (scope: string) => opened.filter(({ needed }) => needed === scope).map(({ path }) => path);
  expect(needing("ingest").toSorted()).toEqual([
    "/api/ingest",
    "/api/ingest/{jobId}",
    "/api/pictures/missing",
    "/api/pictures/{sha256}",
    "/api/traces/{id}",
  ]);
  expect(needing("delete")).toEqual(["/api/traces/{id}"]);
  const copies = [
    "/api/originals",
    "/api/originals/export",
    "/api/originals/key",
    "/api/originals/parts/{sha256}",
    "/api/originals/{source}/{sourceId}",
  ];
  expect([...new Set(needing("originals"))].toSorted()).toEqual(copies);
  expect(needing("read").length).toBeGreaterThan(9);
});

describe.each(scopes)("a token with %s alone", (scope) => {
  const withScope = logIn(server, userId, "m", [scope]);
  const refused = opened.filter(({ needed }) => needed && needed !== scope);

  test.each(refused)(
    "is refused by $method $path, whatever exists there, before the body",
    async ({ method, path }) => {
      const answers = [];
      for (const id of [traces[0].id, crypto.randomUUID()]) {
        const response = await call(named(path, id), method, bearer(await withScope));
        expect(response.headers.get("www-authenticate")).toBe(insufficient);
        answers.push(await withoutRequestId(response.clone()));
        await expectProblem(response, 403, "access_denied");
      }
      expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
    },
  );

  const taken = opened.filter(({ needed, method }) => needed === scope && method !== "POST");
  test.each(taken)("is let through by $method $path", async ({ method, path }) => {
    const response = await call(named(path, crypto.randomUUID()), method, bearer(await withScope));
    expect(response.headers.get("www-authenticate")).toBeNull();
    expect([200, 204, 400, 404, 415, 428]).toContain(response.status);
  });

  test("reads and revokes itself", async () => {
    const own = bearer(await logIn(server, userId, "m", [scope]));
    const session = await call("/api/cli/session", "GET", own);
    expect(await session.json()).toMatchObject({ ok: true, scopes: [scope] });
    expect((await call("/api/cli/session", "DELETE", own)).status).toBe(204);
    expect((await call("/api/cli/session", "GET", own)).status).toBe(401);
  });
});

test("a path that can be no object's is missing for a token without the scope, too", async () => {
  for (const [path, method] of [
    ["/api/traces/no-id", "DELETE"],
    ["/api/ingest/no-id", "GET"],
  ] as const) {
    const response = await call(path, method, bearer(await logIn(server, userId, "m", ["read"])));
    expect(response.headers.get("www-authenticate")).toBeNull();
    await expectProblem(response, 404, "not_found");
  }
});

test("a HEAD needs the scope of its GET", async () => {
  const response = await call("/api/traces", "HEAD", bearer(await logIn(server, userId, "m", ["ingest"])));
  expect([response.status, response.headers.get("www-authenticate")]).toEqual([403, insufficient]);
});

test("a token without the scope is not helped by a cookie beside it", async () => {
  const headers = { ...bearer(token), Cookie: await sessionCookie(server), Origin: server.url };
  const response = await call(`/api/traces/${traces[0].id}`, "DELETE", headers);
  await expectProblem(response, 403, "access_denied");
  expect((await get(server, `/api/traces/${traces[0].id}`, token)).status).toBe(200);
});

test("a token with the scope delete deletes", async () => {
  const deleting = await logIn(server, userId, "m", ["delete"]);
  expect((await call(`/api/traces/${traces[0].id}`, "DELETE", bearer(deleting))).status).toBe(204);
  await expectProblem(await get(server, `/api/traces/${traces[0].id}`, token), 404, "not_found");
});
