import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { runJob } from "#lib/ingest/process/run-job";
import { accountTraces } from "#lib/ledger/account";
import { signIn } from "../support/browser.ts";
import { owner } from "../support/server.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, browser, page, faults, open } = await provideSignedIn();

/** Uploads sessions of one message each: `day` of March 2026, agent, project, tokens. */
async function upload(...sessions: [day: string, source: string, project: string, tokenCount: number][]) {
  const { rows } = await pool().query(`select id from "user"`);
  const traces = sessions.map(([day, source, project, tokenCount], index) => ({
    sourceId: `${day} ${index}`,
    source,
    project,
    messages: [{ position: 0, content: "x", tokenCount, createdAt: `2026-03-${day}T12:00:00Z` }],
  }));
  const caller = { userId: rows[0].id, machine: "ada-laptop" };
  const jobId = await acceptBatch(caller, Buffer.from(JSON.stringify({ traces })), "identity", undefined);
  await runJob({ userId: caller.userId, jobId });
  await endThreads();
}

const march = "/usage?from=2026-03-01&to=2026-03-31&by=source";
const bars = () => page.locator("figure .recharts-bar-rectangle a, figure .recharts-bar a");

test("while sessions are still being counted, the page says so and updates automatically", async () => {
  await open("/usage");
  await page.getByText("No sessions have been uploaded yet").waitFor();
  await upload(["02", "codex", "api", 10_000], ["03", "codex", "web", 20_000], ["03", "cursor", "api", 50_000]);
  await open(march);
  await page.getByText("Still counting 3 sessions").waitFor();
  await accountTraces(10);
  await page.getByText("The busiest day was 3 Mar, with 70K tokens").waitFor();
  expect(await page.getByText("Still counting").count()).toBe(0);
});

test("the server draws the chart first, and the interactive one replaces it in exactly the same place", async () => {
  const scriptless = await browser.newContext({ javaScriptEnabled: false });
  const plain = await scriptless.newPage();
  await signIn(plain, server, owner);
  await plain.goto(server.url + march);
  const place = (locator: ReturnType<typeof plain.locator>) =>
    locator.evaluateAll((all) =>
      all
        .map((one) => {
          const { x, y, width, height } = one.getBoundingClientRect();
          return [x, y, width, height].map(Math.round);
        })
        .sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0)),
    );
  const drawn = await place(plain.locator("figure a rect"));
  expect(drawn).toHaveLength(3);
  await scriptless.close();
  await open(march);
  await bars().first().waitFor();
  await page.waitForFunction("document.querySelectorAll('figure a rect').length === 3");
  const live = await place(page.locator("figure a rect"));
  for (const [index, box] of live.entries())
    for (const [side, length] of box.entries())
      expect(Math.abs(length - (drawn[index]?.[side] ?? 0))).toBeLessThanOrEqual(1);
  expect(faults).toEqual([]);
});

test("the bars show their numbers to the mouse and the arrow keys, and link to the sessions they count", async () => {
  await open(march);
  await bars().first().waitFor();
  await page.locator("figure .recharts-surface").focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText("2 Mar", { exact: true }).first().waitFor();
  const hrefs = await bars().evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  expect(hrefs.toSorted()).toEqual([
    "/traces?source=codex&from=2026-03-02&to=2026-03-02",
    "/traces?source=codex&from=2026-03-03&to=2026-03-03",
    "/traces?source=cursor&from=2026-03-03&to=2026-03-03",
  ]);
  await page.goto(`${server.url}${hrefs[0]}`);
  expect(await page.locator("main li a[href^='/traces/']").count()).toBe(1);
  expect(faults).toEqual([]);
});

test("the table has the same numbers, the totals choose the measure, and each facet can be shown in the chart", async () => {
  await open(march);
  await page.locator("summary", { hasText: "Show as table" }).click();
  const row = page.getByRole("row", { name: /^3 Mar/ });
  expect(await row.getByRole("cell").allTextContents()).toEqual(["50,000", "20,000", "70,000"]);
  await page.getByRole("link", { name: /3 sessions/ }).click();
  await page.getByText("The busiest day was 3 Mar, with 2 sessions").waitFor();
  await page.getByRole("link", { name: "Show in the chart by project" }).click();
  await page.getByText("api has 67% of all, the most of its projects").waitFor();
  expect(new URL(page.url()).search).toBe("?from=2026-03-01&to=2026-03-31&by=project&show=sessions");
});

test("an empty range links to the last day with data", async () => {
  await open("/usage?from=2026-03-10&to=2026-03-20");
  await page.getByRole("link", { name: "3 Mar 2026" }).click();
  await page.getByText("The busiest day was 3 Mar").waitFor();
});
