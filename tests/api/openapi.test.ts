import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { operations } from "#lib/api/operations";
import { operator } from "#lib/auth/audit";
import { scopes } from "#lib/core/fields";
import { prisma } from "#lib/db/client";
import type { Operation } from "#lib/http/operation";
import { wholeRange } from "#lib/masking/for-others";
import { shareTrace } from "#lib/shares/shares";
import { wholeTrace } from "#lib/traces/examples";
import { documentedBytes, shapes } from "../support/openapi.ts";
import { get, logIn, operatorSecret, post, provideOwnedServer } from "../support/server.ts";
import { fromElsewhere, getCondition } from "./calls.ts";
import { bearer, expectApiHeaders, sessionCookie } from "./client.ts";

const { server, token, userId } = await provideOwnedServer();
const cookie = await sessionCookie(server);
const document = await (await get(server, "/api/openapi.json")).json();
const { findFaults, getSchema, getAnswer } = shapes(document);

// What the examples of requests name, so that each of them has something to find.
const batch = operations.find(({ path }) => path === "/api/ingest")?.about.example?.body;
const sent = await (await post(server, "/api/ingest", batch, bearer(token))).json();
const started = await (await post(server, "/api/cli/device/start", { machine: "m" }, fromElsewhere())).json();
// The ledger comes by once the trace has been left alone for a few seconds.
let [traceId, projectId] = ["", ""];
for (const deadline = Date.now() + 60_000; !projectId && Date.now() < deadline; await setTimeout(100)) {
  const [trace] = await prisma().trace.findMany({ where: { userId }, select: { id: true, projectId: true } });
  [traceId, projectId] = [trace?.id ?? "", trace?.projectId ?? ""];
}
const { sha256 } = documentedBytes();
await comeToSomething();
const shared = await shareTrace(userId, traceId, { ...wholeRange, masked: true, pictures: true, days: 1 }, operator);
const link = shared.split("/").at(-1) ?? "";

/** Gives the trace what the document's examples show of it. */
async function comeToSomething(): Promise<void> {
  const { branches, commits, pullRequests } = wholeTrace;
  const key = { userId, traceId };
  await prisma().traceBranch.createMany({ data: branches.map((row) => ({ ...key, ...row })), skipDuplicates: true });
  await prisma().traceCommit.createMany({
    data: commits.map(({ url, ...row }) => ({ ...key, ...row })),
    skipDuplicates: true,
  });
  const hash = Buffer.from(sha256, "hex");
  await prisma().tracePicture.createMany({ data: [{ ...key, position: 0, sha256: hash }], skipDuplicates: true });
  const file = { path: "src/retry.ts", name: "retry.ts", position: 1, action: "edit" };
  await prisma().traceFile.createMany({ data: [{ ...key, ...file }], skipDuplicates: true });
  await prisma().tracePullRequest.createMany({
    data: pullRequests.map((row) => ({ ...key, ...row })),
    skipDuplicates: true,
  });
}

/** What authorizes a call, as the operation says. A new token for each, since one call revokes its token. */
async function authorization({ auth, about }: Operation): Promise<Record<string, string>> {
  if (about.secret) return bearer(operatorSecret);
  if (auth === "cookie") return { Cookie: cookie, Origin: server.url };
  return auth === "none" ? {} : bearer(await logIn(server, userId, "m", scopes));
}

/** The path of a call: of what the examples of requests name, that which was made above. */
const makePath = ({ path }: Operation, method: string) =>
  path
    .replace("{jobId}", sent.jobId)
    .replace("{sha256}", documentedBytes(path).sha256)
    .replace("{source}/{sourceId}", "claude-code/one")
    .replace("{link}", link)
    .replace("{id}", path.startsWith("/api/projects/") ? projectId : traceId)
    .replace("{path}", method === "GET" ? "get-session" : "sign-out");

/** The names of a value's fields, those of objects and lists in it too: two bodies of one shape have the same. */
function getShape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(getShape);
  if (typeof value !== "object" || value === null) return "value";
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, getShape(one)]));
}

/** Calls an operation with its example, and checks the response by the document. */
async function callExample(operation: Operation, method: string): Promise<void> {
  const { path, about } = operation;
  const query = {
    ...about.example?.query,
    ...(about.example?.query?.deviceCode ? { deviceCode: started.deviceCode } : {}),
  };
  const url = new URL(server.url + makePath(operation, method));
  url.search = new URLSearchParams(query).toString();
  const { raw } = about;
  const type = raw?.example.type ?? (about.example?.body ? "application/json" : undefined);
  const body = raw ? documentedBytes(path).bytes : JSON.stringify(about.example?.body);
  const response = await fetch(url, {
    method,
    headers: {
      ...fromElsewhere(),
      ...(type && { "Content-Type": type }),
      ...getCondition(operation),
      ...(await authorization(operation)),
    },
    ...(type && { body }),
  });
  const text = await response.text();
  const status = String(response.status);
  const where = `${method} ${path} ${status} ${text.slice(0, 300)}`;
  expect(Object.keys(about.answers), where).toContain(status);
  expect(response.status, where).toBeLessThan(300);
  if (!about.foreign) expectApiHeaders(response.headers);
  const described = getAnswer(path, method.toLowerCase(), status);
  for (const name of Object.keys(described?.headers ?? {})) expect(response.headers.get(name), where).not.toBeNull();
  const [answered] = Object.keys(described?.content ?? {});
  expect(
    response.headers
      .get("content-type")
      ?.split(";")[0]
      ?.replace(/^image\/\w+/, "image/*"),
    where,
  ).toBe(answered);
  if (!answered) return;
  const isJson = answered.includes("json") && answered !== "application/x-ndjson";
  const value = isJson ? JSON.parse(text) : text;
  expect(findFaults(where, getSchema(path, method.toLowerCase(), status), value)).toEqual([]);
  const example = described?.content?.[answered]?.examples?.usual?.value;
  if (isJson && !about.partialExample) expect(getShape(value), where).toEqual(getShape(example));
}

// The route that deletes comes last: the others read what it deletes.
const described = operations
  .flatMap((operation) =>
    operation.methods.map((method) => [`${method} ${operation.path}`, operation, method] as const),
  )
  .toSorted(([, , a], [, , b]) => Number(a === "DELETE") - Number(b === "DELETE"));

/** What a person has to allow first, which tests/api/oauth.test.ts does. */
const afterConsent = ["/api/oauth/token", "/api/oauth/revoke"];

describe("an operation of the document", () => {
  test.each(described.filter(([, { path }]) => !afterConsent.includes(path)))(
    "%s takes its example, and answers with the shape of the example",
    async (_, operation, method) => {
      await callExample(operation, method);
    },
  );
});

test("better-auth answers errors and unknown routes as the document says", async () => {
  const call = (path: string, init?: RequestInit) => fetch(`${server.url}/api/auth/${path}`, init);
  const wrong = { email: "ada@example.org", password: "wrong password" };
  const headers = { "Content-Type": "application/json", Origin: server.url };
  const refused = await call("sign-in/email", { method: "POST", headers, body: JSON.stringify(wrong) });
  const documented = getAnswer("/api/auth/{path}", "post", "401")?.content?.["application/json"]?.examples?.usual
    ?.value;
  expect([refused.status, await refused.json()]).toEqual([401, documented]);
  for (const method of ["GET", "POST"]) expect((await call("nothing", { method, headers })).status).toBe(404);
});

test("the document names this server, and is the same for everybody", async () => {
  expect(document.servers).toEqual([{ url: server.url }]);
  expect(await (await get(server, "/api/openapi.json", token)).json()).toEqual(document);
});
