import { describe, expect, test } from "vitest";
import { operations } from "#lib/api/operations";
import { errorsOf } from "#lib/api/problems";
import type { Operation } from "#lib/http/operation";
import { shapes } from "../support/openapi.ts";
import { get, logIn, post, provideOwnedServer, someAddress } from "../support/server.ts";
import { bearer, expectApiHeaders, sessionCookie } from "./client.ts";

const secret = "an operator's secret for tests";
const { server, token, userId } = await provideOwnedServer({
  environment: { CRON_SECRET: secret, METRICS_TOKEN: secret },
});
const cookie = await sessionCookie(server);
const document = await (await get(server, "/api/openapi.json")).json();
const { faultsOf, schemaOf, answerOf } = shapes(document);

// What the examples of requests name, so that each of them has something to find.
const example = operations.find(({ path }) => path === "/api/ingest")?.about.example?.body;
const sent = await (await post(server, "/api/ingest", example, bearer(token))).json();
const started = await (await post(server, "/api/cli/device/start", { machine: "m" }, fromElsewhere())).json();
let traceId = "";
for (const deadline = Date.now() + 20_000; !traceId && Date.now() < deadline; ) {
  traceId = (await (await get(server, "/api/traces", token)).json()).traces[0]?.id ?? "";
}

function fromElsewhere(): Record<string, string> {
  return { "X-Forwarded-For": someAddress() };
}

type Call = { headers?: Record<string, string>; body?: BodyInit; id?: string };

/** What authorizes a call, as the operation says. A token of its own for each, since one call ends its token. */
async function authorization({ auth, about }: Operation): Promise<Record<string, string>> {
  if (about.secret) return bearer(secret);
  if (auth === "cookie") return { Cookie: cookie };
  return auth === "none" ? {} : bearer(await logIn(server, userId));
}

/** Calls an operation with its example, or with what is wrong in its place, and checks the answer by the document. */
async function call(operation: Operation, method: string, { headers = {}, body, id }: Call = {}): Promise<number> {
  const { path, about } = operation;
  const query = {
    ...about.example?.query,
    ...(about.example?.query?.deviceCode ? { deviceCode: started.deviceCode } : {}),
  };
  const url = new URL(server.url + path.replace("{jobId}", id ?? sent.jobId).replace("{id}", id ?? traceId));
  url.search = new URLSearchParams(query).toString();
  const response = await fetch(url, {
    method,
    headers: { ...fromElsewhere(), ...(about.example?.body ? { "Content-Type": "application/json" } : {}), ...headers },
    ...(about.example?.body ? { body: body ?? JSON.stringify(about.example.body) } : {}),
  });
  const where = `${method} ${path} ${response.status}`;
  const text = await response.text();
  const described = answerOf(path, method.toLowerCase(), String(response.status));
  expect(described, `${where} is not described: ${text}`).toBeDefined();
  expectApiHeaders(response.headers);
  for (const name of Object.keys(described?.headers ?? {}))
    expect(response.headers.get(name), `${where} ${name}`).not.toBeNull();
  const [type] = Object.keys(described?.content ?? {});
  expect(response.headers.get("content-type")?.split(";")[0] ?? undefined, where).toBe(type);
  const value = type?.includes("json") && type !== "application/x-ndjson" ? JSON.parse(text) : text;
  if (type) expect(faultsOf(where, schemaOf(path, method.toLowerCase(), String(response.status)), value)).toEqual([]);
  if (response.status >= 400 && response.status !== 503)
    expect(Object.keys(errorsOf(operation))).toContain(value.error);
  return response.status;
}

// The route that deletes comes last: the others read what it deletes.
const described = operations
  .filter(({ path }) => !path.startsWith("/api/auth/"))
  .flatMap((operation) =>
    operation.methods.map((method) => [`${method} ${operation.path}`, operation, method] as const),
  )
  .toSorted(([, , a], [, , b]) => Number(a === "DELETE") - Number(b === "DELETE"));

describe("an operation of the document", () => {
  test.each(described)(
    "%s takes its example, and answers in the shape that the document gives",
    async (_, operation, method) => {
      const isBrowsers = operation.path === "/api/traces/{id}" && method === "DELETE";
      const status = await call(operation, method, {
        headers: { ...(await authorization(operation)), ...(isBrowsers ? { Origin: server.url } : {}) },
      });
      expect(Object.keys(operation.about.answers)).toContain(String(status));
      expect(status).toBeLessThan(300);
    },
  );

  test.each(described)("%s answers a call that is wrong as the document says", async (_, operation, method) => {
    const headers = await authorization(operation);
    if (operation.auth !== "none" || operation.about.secret) {
      expect(await call(operation, method)).toBe(401);
      if (operation.auth !== "cookie") expect(await call(operation, method, { headers: bearer("wrong") })).toBe(401);
    }
    if (operation.params) {
      expect(await call(operation, method, { headers, id: crypto.randomUUID() })).toBe(404);
      expect(await call(operation, method, { headers, id: "no-uuid" })).toBe(404);
    }
    if (operation.about.example?.body) {
      expect(await call(operation, method, { headers, body: "{" })).toBe(400);
      expect(await call(operation, method, { headers, body: "{}" })).toBe(400);
      expect(await call(operation, method, { headers: { ...headers, "Content-Type": "text/plain" } })).toBe(415);
      expect(await call(operation, method, { headers: { ...headers, "Content-Encoding": "compress" } })).toBe(415);
    }
  });

  test.each(described)("%s: its path tells the methods that the document has of it", async (_, { path }) => {
    const url = server.url + path.replace(/\{\w+\}/, crypto.randomUUID());
    const response = await fetch(url, { method: "OPTIONS" });
    expect(response.status).toBe(204);
    const allow = answerOf(path, "options", "204")?.headers?.Allow;
    expect(response.headers.get("allow")?.split(", ").toSorted()).toEqual(allow?.example?.split(", ").toSorted());
  });
});

test("the document names this server, and is the same for everybody", async () => {
  expect(document.servers).toEqual([{ url: server.url }]);
  expect(await (await get(server, "/api/openapi.json", token)).json()).toEqual(document);
});
