import { beforeAll, describe, expect, test } from "vitest";
import { transaction } from "#lib/db/client";
import { countPending } from "#lib/search/index/find-documents";
import { longTest } from "../support/long.ts";
import { get, ingest, logIn, makeUser, post, provideOwnedServer } from "../support/server.ts";
import { bearer, expectApiHeaders, expectProblem, sessionCookie, unknownToken } from "./client.ts";

const { server, userId, token } = await provideOwnedServer();
const otherToken = await logIn(server, await makeUser({ name: "Bob", email: "bob@example.org", password: "" }));

beforeAll(async () => {
  const trace = (sourceId: string, project: string, ...contents: string[]) => ({
    sourceId,
    project,
    messages: contents.map((content, position) => ({ position, content, role: "user" })),
  });
  await ingest(server, token, [
    trace("timer", "api", "The retry test fails now and then.", "See src/lib/x.ts and foo_bar."),
    trace("cjk", "web", "这个函数返回空值"),
  ]);
  for (let n = 0; n < 100 && (await countPending(userId)) > 0; n += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
});

const path = (q: string, more = "") => `/api/traces?q=${encodeURIComponent(q)}${more}`;
const search = async (q: string, more = "", as = token) => {
  const response = await get(server, path(q, more), as);
  expect(response.status).toBe(200);
  return ((await response.json()) as { traces: { sourceId: string }[] }).traces.map(({ sourceId }) => sourceId);
};

describe("q in the list", () => {
  test("finds what the running worker has indexed, within the filters, and only one's own", async () => {
    for (const q of ["retry", '"retry test"', "src/lib/x.ts", "foo_bar", "RETRY foo_bar"])
      expect(await search(q)).toEqual(["timer"]);
    expect(await search("函数")).toEqual(["cjk"]);
    expect(await search("retry", "&project=api")).toEqual(["timer"]);
    expect(await search("retry", "&project=web")).toEqual([]);
    expect(await search("retry", "", otherToken)).toEqual([]);
  });

  test.each(['"', "->", "  ", "\0", "\0a", "a ".repeat(256), "word ".repeat(1000), `"${"a ".repeat(40)}"`, ""])(
    "refuses %j with its path",
    async (q) => {
      const problem = await expectProblem(await get(server, path(q), token), 400, "invalid_request");
      expect(problem.errors?.map((error) => error.path)).toEqual(["q"]);
    },
  );

  test.each(["(a|b)*+$[", "%", "100%_", "a\\", '"a', "a'; drop table trace", "😀", "a".repeat(512), "\u202e x"])(
    "answers %j at once",
    async (q) => {
      const response = await get(server, path(q), token);
      expect([200, 400]).toContain(response.status);
    },
  );

  longTest("that takes too long is answered with Retry-After", async () => {
    await transaction(async (tx) => {
      await tx.query("lock table search_block");
      const response = await get(server, path("retry"), token);
      expect(response.headers.get("retry-after")).toBe("5");
      await expectProblem(response, 503, "overloaded");
    });
  });

  test("narrows an export too", async () => {
    const lines = async (q: string) => {
      const text = await (await get(server, `/api/traces/export?q=${encodeURIComponent(q)}`, token)).text();
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line).sourceId);
    };
    expect([await lines("retry"), await lines("nothing")]).toEqual([["timer"], []]);
    await expectProblem(await get(server, "/api/traces/export?q=%22", token), 400, "invalid_request");
  });
});

describe("/mcp", () => {
  const call = (path: string, headers: Record<string, string>, body: object | string = { method: "tools/list" }) =>
    post(server, path, typeof body === "string" ? body : { jsonrpc: "2.0", id: 1, ...body }, headers);
  const searching = (query: string) => ({
    method: "tools/call",
    params: { name: "search_sessions", arguments: { query } },
  });

  test.each(["/mcp", "/api/mcp"])("finds a person's own sessions at %s, in one JSON answer", async (path) => {
    const response = await call(path, bearer(token), searching("retry"));
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expectApiHeaders(response.headers);
    const [block] = (await response.json()).result.content;
    expect(block.text).toContain("> The retry test fails now and then.");
    const theirs = await (await call(path, bearer(otherToken), searching("retry"))).json();
    expect(theirs.result.content[0].text).toContain("No session has all of this");
  });

  test("takes a token with the scope read alone, from no page of another site, and answers problems", async () => {
    const cookie = { Cookie: await sessionCookie(server), Origin: server.url };
    await expectProblem(await call("/mcp", {}), 401, "missing_token");
    await expectProblem(await call("/mcp", cookie), 401, "missing_token");
    await expectProblem(await call("/mcp", bearer(unknownToken())), 401, "invalid_token");
    const sending = await logIn(server, userId, "m", ["ingest"]);
    await expectProblem(await call("/mcp", bearer(sending)), 403, "access_denied");
    await expectProblem(await call("/mcp", { ...bearer(token), Origin: "https://evil.example" }), 403, "access_denied");
    await expectProblem(await call("/mcp", bearer(token), "[]"), 400, "invalid_request");
    await expectProblem(await call("/mcp", bearer(token), "x".repeat(65 * 1024)), 413, "payload_too_large");
    await expectProblem(await get(server, "/mcp", token), 405, "method_not_allowed");
  });
});
