import { beforeAll, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { runJob } from "#lib/ingest/process/run-job";
import { accountTraces } from "#lib/ledger/account";
import { settleProjects } from "#lib/projects/settle";
import { signIn } from "../support/browser.ts";
import { expectGoodLook, widths } from "../support/look.ts";
import { get, logIn, makeUser, owner } from "../support/server.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, userId, browser, page, button, field, open } = await provideSignedIn();
const token = await logIn(server, userId);
const bob = await logIn(server, await makeUser({ name: "Bob", email: "bob@example.org", password: "" }), "bobs");

const repository = "git@github.com:ada/engine.git";
const hostile = "\u202e<b>evil</b> & co";
const sessions = [
  { sourceId: "a", metadata: { cwd: "/home/ada/engine", repository }, source: "codex", model: "gpt-5" },
  { sourceId: "b", metadata: { cwd: "/home/ada/engine/.claude/worktrees/agent-a1b2c3d4" }, source: "claude-code" },
  { sourceId: "c", metadata: { cwd: "/home/ada/engine-web" }, source: "claude-code", model: "opus" },
  { sourceId: "d", metadata: { cwd: "/srv/engine" }, project: "engine", source: "claude-code" },
  { sourceId: "e", project: hostile, source: "other" },
  { sourceId: "f", project: "agent-a1b2c3d4", source: "claude-code" },
].map((one, n) => ({
  ...one,
  title: `Session ${one.sourceId}`,
  messages: [{ position: 0, role: "user", content: "x", createdAt: `2026-0${n + 1}-02T10:00:00Z` }],
}));

async function takeIn() {
  await settleProjects(10);
  await accountTraces(10);
  await settleProjects(10);
}

/** What the ledger makes of sessions with usage. */
const spend = () =>
  pool().query(`with spent as (
      update trace set cost_nano = 1500000000, input_tokens = 1000, cache_read_tokens = 20000, output_tokens = 500
      where source_id in ('a', 'b') returning user_id, id, project_id, source, activity_at
    ), facets as (
      insert into usage_facets (user_id, facets, source, branch, project_id)
      select user_id, hashtextextended(id::text, 0), source, 'main', project_id from spent
    ), branches as (
      insert into trace_branch (user_id, trace_id, branch, evidence) select user_id, id, 'main', 'test' from spent
    )
    insert into usage_quarter_hour (user_id, quarter, facets, messages, tokens, untimed, uncounted, input_tokens, output_tokens,
      cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens, reasoning_tokens, cost_nano, recorded_nano, unpriced_tokens)
    select user_id, floor(extract(epoch from activity_at) / 900)::int, hashtextextended(id::text, 0), 1, 500, 0, 0, 1000, 500, 20000, 0, 0, 0, 1500000000, 0, 0
    from spent`);

beforeAll(async () => {
  const body = Buffer.from(JSON.stringify({ traces: sessions }));
  const jobId = await acceptBatch({ userId, machine: "ada-laptop" }, body, "identity", undefined);
  await runJob({ userId, jobId });
  await endThreads();
  await takeIn();
  await spend();
});

// biome-ignore lint/suspicious/noExplicitAny: what is answered is compared as a whole
const read = async (path: string, as = token): Promise<any> => (await get(server, path, as)).json();
const projects = async (query = "") => (await read(`/api/projects${query}`)).projects;
const findId = async (sourceId: string): Promise<string> =>
  (await pool().query("select project_id from trace where source_id = $1", [sourceId])).rows[0].project_id;

describe("the API", () => {
  test("lists projects with their sums, sorted and searched, page by page", async () => {
    const all = await projects();
    expect(all.map(({ name, sessions }: { name: string; sessions: number }) => `${name} ${sessions}`)).toEqual([
      "<b>evil</b> & co 1",
      "engine 1",
      "engine-web 1",
      "engine 2",
    ]);
    expect(all[3]).toEqual({
      id: await findId("a"),
      name: "engine",
      distinction: "github.com/ada/engine",
      sessions: 2,
      sessionsPutAway: 0,
      costNano: 3_000_000_000,
      usage: expect.objectContaining({ inputTokens: 2000, cacheReadTokens: 40_000, outputTokens: 1000 }),
      agents: ["claude-code", "codex"],
      lastActiveAt: "2026-02-02T10:00:00.000Z",
    });
    expect(all[1].distinction).toBe("/srv/engine on ada-laptop");
    const first = await read("/api/projects?sort=cost&limit=1");
    expect(first.projects).toEqual([all[3]]);
    const rest = await read(`/api/projects?sort=cost&limit=200&cursor=${first.nextCursor}`);
    expect([rest.projects.length, rest.nextCursor]).toEqual([3, null]);
    expect(await projects("?q=ENGINE-")).toEqual([all[2]]);
    expect(await projects("?q=%25")).toEqual([]);
    expect((await get(server, "/api/projects?cursor=x", token)).status).toBe(400);
  });

  test("tells one project in full, and filters traces by it; another's is 404", async () => {
    const id = await findId("a");
    const { project } = await read(`/api/projects/${id}`);
    expect(project).toMatchObject({
      name: "engine",
      aliases: [
        { kind: "remote", machine: null, value: "github.com/ada/engine" },
        { kind: "folder", machine: "ada-laptop", value: "/home/ada/engine" },
      ],
      byAgent: [
        { value: "claude-code", sessions: 1, costNano: 1_500_000_000 },
        { value: "codex", sessions: 1, costNano: 1_500_000_000 },
      ],
      byBranch: [{ value: "main", sessions: 2, costNano: 3_000_000_000 }],
      byMonth: [
        { month: "2026-02", tokens: 21_500, costNano: 1_500_000_000, unpricedTokens: 0, tierNotPricedTokens: 0 },
        { month: "2026-01", tokens: 21_500, costNano: 1_500_000_000, unpricedTokens: 0, tierNotPricedTokens: 0 },
      ],
    });
    const { traces } = await read(`/api/traces?projectId=${id}`);
    expect(traces.map(({ sourceId }: { sourceId: string }) => sourceId)).toEqual(["b", "a"]);
    expect((await read("/api/traces?project=engine")).traces).toHaveLength(1); // the text as it was sent
    expect((await get(server, `/api/projects/${id}`, bob)).status).toBe(404);
    expect((await read(`/api/traces?projectId=${id}`, bob)).traces).toEqual([]);
    expect((await get(server, "/api/traces?projectId=x", token)).status).toBe(400);
    const { projectId } = await read("/api/traces/facets");
    expect(projectId[0]).toEqual({ value: id, count: 2, name: "engine · github.com/ada/engine" });
  });
});

describe("the pages", () => {
  test("say counting of a project whose sessions are still counted", async () => {
    await pool().query("insert into project (user_id, id, name) values ($1, gen_random_uuid(), 'pending')", [userId]);
    await pool().query("update trace set ledger_due = true where source_id = 'f'");
    await open("/projects");
    const row = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "pending" }) });
    await row.getByText("counting…").waitFor();
    await page.getByText("Still counting 1 session.").waitFor();
    await pool().query("update trace set ledger_due = false");
    await pool().query("delete from project where name = 'pending'");
  });

  test("show projects, and the sessions of one, in every width", async () => {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await open("/projects");
      await page.getByRole("link", { name: "engine-web" }).waitFor();
      await expectGoodLook(page, "projects");
      await open(`/projects/${await findId("a")}`);
      await page.getByRole("heading", { name: "Recognized by" }).waitFor();
      await page.getByText("Split off").first().click();
      await expectGoodLook(page, "project", { fullPage: true });
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("link", { name: "All 2 sessions" }).click();
    await page.getByRole("link", { name: /Remove filter project engine/ }).waitFor();
    expect(await page.locator("[data-rows] li.session").count()).toBe(2);
    await page.locator('.facts a[href^="/projects/"]').first().click();
    await page.waitForURL(`**/projects/${await findId("a")}`);
  });

  test("never show a sub-agent's name as a project, nor markup", async () => {
    await open("/traces");
    expect(await page.getByText("agent-a1b2c3d4").count()).toBe(0);
    expect(await page.getByRole("link", { name: "<b>evil</b> & co" }).count()).toBe(1);
  });

  test("rename a project in place, and the name stays", async () => {
    await open(`/projects/${await findId("c")}`);
    await page.getByText("Rename", { exact: true }).click();
    await field("Name").fill("  ");
    await button("Save name").click();
    await page.getByText("Enter a name.").first().waitFor();
    await field("Name").fill("The \u202eweb");
    await button("Save name").click();
    await page.getByRole("heading", { name: "The web" }).waitFor();
  });

  test("merge one into another, and undo it, without script", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await signIn(plain, server, owner);
    const [web, engine] = [await findId("c"), await findId("a")];
    await open(`/projects/${web}`, plain);
    await plain.getByLabel("Merge into").selectOption(engine);
    await button("Merge…", plain).click();
    await plain.getByText("You can undo this there").waitFor();
    expect(await findId("c")).toBe(web); // asking changes nothing
    await button("Merge", plain).click();
    await plain.getByText("The web was merged into this project").waitFor();
    expect(await findId("c")).toBe(engine);
    expect((await plain.goto(`${server.url}/projects/${web}`))?.status()).toBe(404);
    await plain.goBack();
    await button("Undo", plain).click();
    await plain.getByRole("heading", { name: "The web" }).waitFor();
    await plain.getByText("still being moved").waitFor();
    await takeIn();
    await plain.reload();
    await plain.getByRole("link", { name: "Show it in the list" }).waitFor();
    await context.close();
  });

  test("split off a folder", async () => {
    await open(`/projects/${await findId("a")}`);
    await page.getByText("Split off").first().click();
    await button("Split off").click();
    await page.getByText("Choose at least one").first().waitFor();
    await page.getByRole("checkbox", { name: /Folder/ }).check();
    await field("Name of the new project").fill("Worktrees");
    await button("Split off").click();
    await page.getByRole("heading", { name: "Worktrees" }).waitFor();
    await takeIn();
    await page.getByRole("link", { name: "Show it in the list" }).waitFor();
    expect(await findId("a")).not.toBe(await findId("b"));
  });

  test("answer an unknown, a stranger's and a malformed id alike", async () => {
    const context = await browser.newContext();
    const his = await context.newPage();
    await signIn(his, server, owner);
    for (const id of ["00000000-0000-4000-8000-000000000000", "x", "%00"])
      expect((await his.goto(`${server.url}/projects/${id}`))?.status(), id).toBe(404);
    await context.close();
  });
});
