import { beforeAll, describe, expect, test } from "vitest";
import { scopes } from "#lib/core/fields";
import { pool } from "#lib/db/client";
import { get, ingest, logIn, makeUser, provideOwnedServer } from "../support/server.ts";
import { bearer, expectProblem, sessionCookie, withoutRequestId } from "./client.ts";

const { server, token } = await provideOwnedServer({ scopes });
const bob = await makeUser({ name: "Bob", email: "bob@example.org", password: "" });
const otherToken = await logIn(server, bob, "bobs-laptop", scopes);
beforeAll(async () => {
  await ingest(server, token, traces);
  await pool().query("update trace set ledger_due = false"); // lists that are compared don't change between
});

type TraceJson = { id: string; source: string; sourceId: string; updatedAt: string; [field: string]: unknown };
type ListJson = { ok: true; traces: TraceJson[]; nextCursor: string | null };

const day = (n: number) => `2026-11-${String(n).padStart(2, "0")}T00:00:00.000Z`;

/** Five traces at each of five times, so that a page's end falls between traces of one time. */
const traces = Array.from({ length: 25 }, (_, n) => ({
  source: n % 2 ? "codex-cli" : "claude-code",
  sourceId: `trace-${n}`,
  model: n % 3 ? "m-1" : "m-2",
  project: n < 5 ? "p" : undefined,
  createdAt: day(1),
  messages: [{ position: 0, role: "user", content: `Question ${n}`, tokenCount: n, createdAt: day(1 + (n % 5)) }],
}));

const list = async (query = "") => {
  const response = await get(server, `/api/traces${query}`, token);
  expect(response.status).toBe(200);
  return (await response.json()) as ListJson;
};
const findId = async (sourceId: string) => {
  const found = (await list("?limit=200")).traces.find((one) => one.sourceId === sourceId);
  return found?.id ?? expect.fail(`there is no trace ${sourceId}`);
};
const remove = (id: string, as = token) =>
  fetch(`${server.url}/api/traces/${id}`, { method: "DELETE", headers: bearer(as) });

describe("the list", () => {
  test("shows a trace with the contract's fields and no others", async () => {
    const { traces: shown } = await list("?source=claude-code&project=p&model=m-2");
    expect(shown).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        source: "claude-code",
        sourceId: "trace-0",
        model: "m-2",
        title: "Question 0",
        shortTitle: "Question 0",
        project: "p",
        createdAt: day(1),
        updatedAt: day(1),
        messageCount: 1,
        tokenCount: 0,
        sanitized: false,
        metadata: null,
        usage: expect.objectContaining({ inputTokens: 0, unpricedTokens: 0 }),
        costNano: 0,
        recordedNano: null,
        parentId: null,
        parentRelation: null,
        projectId: null,
        filesChanged: 0,
        linesAdded: 0,
        linesRemoved: 0,
        machine: expect.any(String),
        turnCount: expect.any(Number),
        callCount: 0,
        errorCount: 0,
        activeSeconds: 0,
        dated: true,
        trivial: false,
        customTitle: null,
        starredAt: null,
        archivedAt: null,
        note: null,
        tags: [],
        pullRequests: [],
      },
    ]);
  });

  test("is ordered by the last activity, newest first, with 50 a page by default", async () => {
    const { traces: shown, nextCursor } = await list();
    expect([shown.length, nextCursor]).toEqual([25, null]);
    const times = shown.map(({ updatedAt }) => updatedAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect(times[0]).toBe(day(5));
  });

  test("in pages of ten has every trace once, in the same order", async () => {
    const whole = (await list()).traces.map(({ id }) => id);
    const pages: string[][] = [];
    let cursor: string | null = "";
    while (cursor !== null && pages.length < 9) {
      const page: ListJson = await list(`?limit=10${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      pages.push(page.traces.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toEqual(whole);
  });

  test("has no cursor after a full last page", async () => {
    expect((await list("?limit=25")).nextCursor).toBeNull();
    expect((await list("?limit=24")).nextCursor).toEqual(expect.any(String));
  });

  test.each([
    ["?source=codex-cli", 12],
    ["?source=nobody", 0],
    ["?model=m-2", 9],
    ["?project=p", 5],
    ["?project=p&source=codex-cli", 2],
    [`?from=${day(4)}`, 10],
    [`?to=${day(4)}`, 15],
    [`?from=${day(2)}&to=${day(3)}`, 5],
    [`?from=${encodeURIComponent("2026-11-05T02:00:00+02:00")}`, 5],
    ["?unknown=1", 25],
  ])("filtered by %s has %i", async (query, count) => {
    expect((await list(query)).traces).toHaveLength(count);
  });

  test("accepts any text as a value, also text that looks like SQL", async () => {
    for (const text of ["'", "it's $1 or $2", "\\' or true --", "a\\", "é'😀", `${"x".repeat(40)}'`]) {
      expect((await list(`?${new URLSearchParams({ project: text })}`)).traces).toEqual([]);
      await pool().query("update trace set project = $1 where source_id = 'trace-0'", [text]);
      const found = (await list(`?${new URLSearchParams({ project: text, source: "claude-code" })}`)).traces;
      expect(found.map(({ sourceId }) => sourceId)).toEqual(["trace-0"]);
    }
    await pool().query("update trace set project = 'p' where source_id = 'trace-0'");
  });

  test.each([
    ["limit=0", "limit"],
    ["branch=", "branch"],
    ["commit=HEAD", "commit"],
    ["commit=abc123", "commit"],
    ["pr=ada/api", "pr"],
    ["pr=0", "pr"],
    ["pr=2147483648", "pr"],
    ["pr=https://github.com/ada/api/issues/1", "pr"],
    ["limit=201", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=x", "limit"],
    ["limit=", "limit"],
    ["limit=1&limit=2", "limit"],
    ["from=2026-11-01", "from"],
    ["to=2026-02-30T00:00:00Z", "to"],
    ["cursor=nonsense", "cursor"],
    [`cursor=${Buffer.from('["2026-11-01T00:00:00Z","x"]').toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from("{}").toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from("null").toString("base64url")}`, "cursor"],
    [`cursor=${"A".repeat(2000)}`, "cursor"],
  ])("refuses ?%s", async (query, path) => {
    const problem = await expectProblem(await get(server, `/api/traces?${query}`, token), 400, "invalid_request");
    expect(problem.errors?.map((error) => error.path)).toEqual([path]);
  });

  // Values that are valid text or times but that PostgreSQL can't store.
  const zero = Buffer.from(`["0000-01-01T00:00:00Z","01900000-0000-7000-8000-000000000000"]`).toString("base64url");
  test.each([
    "source=a%00b",
    "model=%00",
    "project=%00",
    "from=0000-01-01T00:00:00Z",
    "to=0000-01-01T00:00:00Z",
    `cursor=${zero}`,
  ])("answers ?%s with 200 or 400", async (query) => {
    for (const path of ["/api/traces", "/api/traces/export"]) {
      const response = await get(server, `${path}?${query}`, token);
      expect([200, 400], `${path}: ${response.status}`).toContain(response.status);
      await response.text();
    }
  });

  test("accepts times that PostgreSQL would refuse: offsets of 16 hours and more, and any number of decimals", async () => {
    const cursor = (moment: string) =>
      Buffer.from(JSON.stringify([moment, "01900000-0000-7000-8000-000000000000"])).toString("base64url");
    const farOffset = "2026-11-20T08:00:00-23:00";
    for (const moment of [farOffset, `2026-11-20T08:00:00.${"1".repeat(60)}Z`]) {
      for (const query of [`from=${moment}`, `to=${moment}`, `cursor=${cursor(moment)}`]) {
        expect((await get(server, `/api/traces?${query}`, token)).status).toBe(200);
      }
    }
    expect(await (await get(server, "/api/traces/export?to=0001-01-02T00:00:00-23:00", token)).text()).toBe("");
  });

  test("may have 200 a page", async () => {
    expect((await list("?limit=200")).traces).toHaveLength(25);
  });

  test("has no trace of another user", async () => {
    expect(await (await get(server, "/api/traces", otherToken)).json()).toEqual({
      ok: true,
      traces: [],
      nextCursor: null,
    });
    expect(await (await get(server, "/api/traces/export", otherToken)).text()).toBe("");
  });
});

describe("one trace", () => {
  test("is answered as the list shows it", async () => {
    const [first] = (await list("?limit=1")).traces;
    const response = await get(server, `/api/traces/${first?.id}`, token);
    const trace = { ...first, branches: [], commits: [] };
    expect([response.status, await response.json()]).toEqual([200, { ok: true, trace }]);
  });

  test("of another user answers as a missing one on every route, and stays", async () => {
    const id = await findId("trace-1");
    const missing = "01900000-0000-7000-8000-000000000000";
    for (const path of ["", "/messages"]) {
      const [theirs, nobodys] = await Promise.all(
        [id, missing].map((one) => get(server, `/api/traces/${one}${path}`, otherToken)),
      );
      await expectProblem((theirs as Response).clone(), 404, "not_found");
      expect(await withoutRequestId(theirs as Response)).toEqual(await withoutRequestId(nobodys as Response));
    }
    const [theirs, nobodys] = [await remove(id, otherToken), await remove(missing, otherToken)];
    await expectProblem(theirs.clone(), 404, "not_found");
    expect(await withoutRequestId(theirs)).toEqual(await withoutRequestId(nobodys));
    expect((await get(server, `/api/traces/${id}`, token)).status).toBe(200);
  });

  test("with a malformed id is missing", async () => {
    for (const id of ["x", "1", "01900000-0000-7000-8000-00000000000g"]) {
      await expectProblem(await get(server, `/api/traces/${id}`, token), 404, "not_found");
      await expectProblem(await get(server, `/api/traces/${id}/messages`, token), 404, "not_found");
      await expectProblem(await remove(id), 404, "not_found");
    }
  });

  test("that is deleted is gone with its messages, and missing the second time", async () => {
    await ingest(server, token, [{ sourceId: "gone", messages: [{ position: 0, content: "x" }] }]);
    const id = await findId("gone");
    const response = await remove(id);
    expect([response.status, await response.text()]).toEqual([204, ""]);
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get("cache-control")).toBe("no-store");
    for (const path of ["", "/messages"]) {
      await expectProblem(await get(server, `/api/traces/${id}${path}`, token), 404, "not_found");
    }
    await expectProblem(await remove(id), 404, "not_found");
    expect((await list("?limit=200")).traces.map(({ sourceId }) => sourceId)).not.toContain("gone");
    expect((await pool().query("select 1 from message where trace_id = $1", [id])).rowCount).toBe(0);
    expect(await (await get(server, "/api/traces/export", token)).text()).not.toContain('"gone"');
  });
});

test("the routes for the pages' scripts refuse text and times that PostgreSQL can't store", async () => {
  const headers = { Cookie: await sessionCookie(server) };
  const id = await findId("trace-1");
  for (const path of [
    `/api/traces/${id}/matches?q=a%00`,
    `/api/traces/${id}/growth?after=-1`,
    `/api/traces/changes?id=${id}&updatedAt=0000-01-01T00:00:00Z`,
  ])
    expect((await fetch(server.url + path, { headers })).status).toBe(400);
});

test("facets, changes and an export by id have traces of their owner only", async () => {
  const list = await (await get(server, "/api/traces?limit=200", token)).json();
  const [first, second, third] = list.traces;
  const facets = await (await get(server, "/api/traces/facets", token)).json();
  const total = facets.source.reduce((sum: number, { count }: { count: number }) => sum + count, 0);
  expect([facets.ok, total]).toEqual([true, list.traces.length]);
  const query = new URLSearchParams({ id: third.id, updatedAt: third.updatedAt });
  expect(await (await get(server, `/api/traces/changes?${query}`, token)).json()).toEqual({ ok: true, count: 2 });
  const exported = async (ids: string[], as = token) => {
    const search = new URLSearchParams(ids.map((id) => ["id", id]));
    const text = await (await get(server, `/api/traces/export?${search}`, as)).text();
    return text.split("\n").flatMap((line) => (line ? [JSON.parse(line).sourceId] : []));
  };
  expect(await exported([first.id])).toEqual([first.sourceId]);
  expect((await exported([first.id, second.id])).toSorted()).toEqual([first.sourceId, second.sourceId].toSorted());
  expect(await exported([first.id, second.id], otherToken)).toEqual([]);
});
