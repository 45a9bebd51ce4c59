import { beforeAll, describe, expect, test } from "vitest";
import { scopes } from "#lib/core/fields";
import { prisma } from "#lib/db/client";
import type { Prisma } from "#lib/generated/prisma/client";
import { get, ingest, logIn, makeUser, provideOwnedServer } from "../support/server.ts";
import { expectProblem, sessionCookie } from "./client.ts";

const { server, token, userId } = await provideOwnedServer({ scopes });
const otherToken = await logIn(
  server,
  await makeUser({ name: "Bob", email: "bob@example.org", password: "" }),
  "bobs",
  scopes,
);

type Listed = { id: string; sourceId: string; pullRequests: unknown[] };

const list = async (query: string): Promise<Listed[]> =>
  (await (await get(server, `/api/traces${query}`, token)).json()).traces;

const session = (sourceId: string) => ({ sourceId, messages: [{ position: 0, role: "user", content: "Question" }] });

describe("a trace that came to a commit and pull requests", () => {
  const key = { userId, position: 3, evidence: "git-commit" };
  const hash = "abc1234abc1234abc1234abc1234abc1234abc12";
  const urls = ["https://github.com/ada/api/pull/12", "https://gitlab.com/team/sub/api/-/merge_requests/12"] as const;
  const remote = "git@github.com:ada/api.git";

  beforeAll(async () => {
    await ingest(server, token, [session("trace-6"), session("trace-7")]);
    const traceId = (await list("")).find(({ sourceId }) => sourceId === "trace-7")?.id ?? "";
    // So that the ledger, which finds no evidence in it, leaves the rows alone.
    const accounted = { ledgerDue: false, usageDue: false, accountedVersion: 1_000_000 };
    await prisma().trace.update({ where: { userId_id: { userId, id: traceId } }, data: accounted });
    await prisma().traceBranch.create({ data: { ...key, traceId, branch: "mend/timer's" } });
    const commits = [hash, "fedcba9"].map((hash, at) => ({ ...key, traceId, hash, position: at, repository: remote }));
    await prisma().traceCommit.createMany({ data: commits });
    const [repositories, number] = [["ada/api", "team/sub/api"] as const, 12];
    const opened = urls.map((url, at) => ({ ...key, traceId, url, repository: repositories[at] ?? "", number }));
    await prisma().tracePullRequest.createMany({ data: opened });
  });

  test.each<Record<string, string>>([
    { branch: "mend/timer's" },
    { commit: hash },
    { commit: "ABC1234A" },
    { commit: "fedcba9876543210" },
    { pr: `${urls[0]}/files` },
    { pr: urls[1] },
    { pr: "ada/api#12" },
    { pr: "team/sub/api!12" },
    { pr: "#12" },
    { pr: "12" },
    { pr: "12", branch: "mend/timer's", commit: "fedcba9", source: "unknown" },
  ])("is found by %o", async (filter) => {
    const query = `?${new URLSearchParams(filter)}`;
    const found = await list(query);
    expect(found.map(({ sourceId }) => sourceId)).toEqual(["trace-7"]);
    const exported = await (await get(server, `/api/traces/export${query}`, token)).text();
    expect(
      exported
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).sourceId),
    ).toEqual(["trace-7"]);
    expect(exported).not.toContain("merge_requests");
    expect(await (await get(server, `/api/traces${query}`, otherToken)).json()).toMatchObject({ traces: [] });
  });

  test("is found by words, too", async () => {
    await expect.poll(async () => (await list("?q=question&pr=12")).length, { timeout: 20_000 }).toBe(1);
    expect(await list("?q=question&pr=13")).toEqual([]);
  });

  test.each<Record<string, string>>([{ branch: "mend" }, { commit: "abc1235" }, { pr: "ada/web#12" }, { pr: "13" }])(
    "is not found by %o",
    async (filter) => {
      expect(await list(`?${new URLSearchParams(filter)}`)).toEqual([]);
    },
  );

  test("tells them, each with its evidence", async () => {
    const [listed] = await list("?pr=12");
    const told = [
      { number: 12, repository: "ada/api", url: urls[0] },
      { number: 12, repository: "team/sub/api", url: urls[1] },
    ];
    expect(listed?.pullRequests).toEqual(told);
    const { trace } = await (await get(server, `/api/traces/${listed?.id}`, token)).json();
    const proof = { evidence: "git-commit", position: 3 };
    expect(trace.branches).toEqual([{ branch: "mend/timer's", ...proof }]);
    expect(trace.pullRequests).toEqual(told.map((one) => ({ ...one, ...proof })));
    const url = `https://github.com/ada/api/commit/${hash}`;
    const commit = { hash, subject: null, branch: null, repository: remote, url, evidence: "git-commit", position: 0 };
    expect(trace.commits[0]).toEqual(commit);
  });
});

describe("a pull request", () => {
  const repository = "team/sub/web";
  const link = { userId, repository, number: 9, evidence: "gh-pr-create" };
  const url = `https://gitlab.com/${repository}/-/merge_requests/9`;
  const ids = new Map<string, string>();
  const findId = (name: string) => ids.get(name) ?? "";
  const change = (name: string, data: Prisma.TraceUpdateInput) =>
    prisma().trace.update({ where: { userId_id: { userId, id: findId(name) } }, data: { ledgerDue: false, ...data } });

  beforeAll(async () => {
    await ingest(server, token, ["opened", "linked", "helper", "fork", "deleted"].map(session));
    for (const { id, sourceId } of await list("")) ids.set(sourceId, id);
    const used = { costNano: 2_000_000_000, inputTokens: 5, linesAdded: 3 };
    await change("opened", used);
    await change("linked", { ...used, unpricedTokens: 7, tierNotPricedTokens: 5 });
    await change("helper", { ...used, parentId: findId("opened"), parentRelation: "subagent" });
    await change("fork", { ...used, parentId: findId("opened"), parentRelation: "fork" });
    await change("deleted", { ...used, deletedAt: new Date() });
    const links = ["opened", "linked", "deleted"].map((name) => ({ ...link, traceId: findId(name), url, position: 0 }));
    await prisma().tracePullRequest.createMany({
      data: [...links, { ...link, traceId: findId("linked"), url: `${url}9`, number: 99, position: null }],
    });
    const file = { userId, position: 0, path: "src/x.ts", name: "x.ts" };
    await prisma().traceFile.createMany({
      data: [
        { ...file, traceId: findId("opened"), action: "edit" },
        { ...file, traceId: findId("helper"), action: "write" },
        { ...file, traceId: findId("linked"), path: "README.md", action: "read" },
      ],
    });
    const commit = { userId, traceId: findId("helper"), hash: "0abc123", subject: "Mend", position: 0 };
    await prisma().traceCommit.create({ data: { ...commit, evidence: "git-commit" } });
  });

  const ask = (query: string, as = token) => get(server, `/api/pulls?${query}`, as);

  test("has its sessions with their sub-agents, each once, what they cost and made", async () => {
    const { pullRequest } = await (await ask(`repository=${repository}&number=9`)).json();
    expect(pullRequest).toMatchObject({
      urls: [url],
      ...{ sessionCount: 2, subagentCount: 1, costNano: 6_000_000_000, filesChanged: 1, linesAdded: 9 },
      usage: { inputTokens: 15, unpricedTokens: 7, tierNotPricedTokens: 5 },
      commits: [{ hash: "0abc123", subject: "Mend", traceId: findId("helper"), position: 0, url: null }],
    });
    const told = (name: string) => pullRequest.sessions.find(({ id }: { id: string }) => id === findId(name));
    expect(told("opened")).toMatchObject({ costNano: 4_000_000_000, subagents: 1, linkedTo: 1, position: 0 });
    expect(told("linked")).toMatchObject({ costNano: 2_000_000_000, subagents: 0, linkedTo: 2 });
  });

  test("has a page", async () => {
    const headers = { Cookie: await sessionCookie(server) };
    const response = await fetch(`${server.url}/pull/${repository}/9`, { headers });
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(page).toContain("1 session is linked to several pull requests and counts fully at each.");
    expect(page).toContain(`href="${url}"`);
    for (const path of [`${repository}/8`, "9", `web/9`, `${repository}/x`, `${repository}/0`, "%00/a/9"])
      expect((await fetch(`${server.url}/pull/${path}`, { headers })).status, path).toBe(404);
  });

  test("of others, and an unknown one, is missing", async () => {
    await expectProblem(await ask(`repository=${repository}&number=9`, otherToken), 404, "not_found");
    await expectProblem(await ask(`repository=${repository}&number=8`), 404, "not_found");
    for (const query of ["number=9", "repository=a/b", "repository=a/b&number=0", "repository=a%00/b&number=1"])
      await expectProblem(await ask(query), 400, "invalid_request");
  });
});
