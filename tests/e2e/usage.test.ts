import { expect, test } from "vitest";
import { acceptBatch } from "#lib/ingest/accept/batch";
import { endThreads } from "#lib/ingest/decode/thread-pool";
import { runJob } from "#lib/ingest/process/run-job";
import { accountTraces } from "#lib/ledger/account";
import { signIn } from "../support/browser.ts";
import { owner } from "../support/server.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, userId, browser, page, faults, open } = await provideSignedIn();

/** Uploads a batch, and processes it. */
async function send(traces: object[]) {
  const caller = { userId, machine: "ada-laptop" };
  const jobId = await acceptBatch(caller, Buffer.from(JSON.stringify({ traces })), "identity", undefined);
  await runJob({ userId: caller.userId, jobId });
  await endThreads();
}

/** Uploads sessions of one message each: `day` of March 2026, agent, project, tokens. */
const upload = (...sessions: [day: string, source: string, project: string, tokenCount: number][]) =>
  send(
    sessions.map(([day, source, project, tokenCount], index) => ({
      ...{ sourceId: `${day} ${index}`, source, project },
      messages: [{ position: 0, content: "x", tokenCount, createdAt: `2026-03-${day}T12:00:00Z` }],
    })),
  );

const march = "/usage?from=2026-03-01&to=2026-03-31&by=source";
const bars = () => page.locator("figure svg a");

test("while sessions are still being counted, the page says so and updates automatically", async () => {
  await open("/usage");
  await page.getByText("No sessions have been uploaded yet").waitFor();
  await upload(["02", "codex", "api", 10_000], ["03", "codex", "web", 20_000], ["03", "cursor", "api", 50_000]);
  await page.clock.install();
  await open(march);
  await page.getByText("Still counting 3 sessions").waitFor();
  await accountTraces(10);
  await page.clock.fastForward(3000);
  await page.getByText("Peak day: 3 Mar, 70K tokens").waitFor();
  expect(await page.getByText("Still counting").count()).toBe(0);
});

test("the server draws the chart, and scripts leave it in exactly the same place", async () => {
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
  await expect.poll(() => page.locator("figure a rect").count()).toBe(3);
  const live = await place(page.locator("figure a rect"));
  for (const [index, box] of live.entries())
    for (const [side, length] of box.entries())
      expect(Math.abs(length - (drawn[index]?.[side] ?? 0))).toBeLessThanOrEqual(1);
  expect(faults).toEqual([]);
});

test("the bars show their numbers to the mouse and the arrow keys, and link to the sessions they count", async () => {
  await open(march);
  await bars().first().waitFor();
  const shown = page.locator("[data-open] p").first();
  await bars().first().focus();
  await shown.and(page.getByText("2 Mar", { exact: true })).waitFor();
  await page.keyboard.press("ArrowRight");
  await shown.and(page.getByText("3 Mar", { exact: true })).waitFor();
  await bars().first().hover();
  await shown.and(page.getByText("2 Mar", { exact: true })).waitFor();
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
  await page.getByText("Peak day: 3 Mar, 2 sessions").waitFor();
  await page.getByRole("link", { name: "Show in the chart by project" }).click();
  await page.getByText("api: 67% of").waitFor();
  expect(new URL(page.url()).search).toBe("?from=2026-03-01&to=2026-03-31&by=project&show=sessions");
});

test("an empty range links to the last day with data", async () => {
  await open("/usage?from=2026-03-10&to=2026-03-20");
  await page.getByRole("link", { name: "3 Mar 2026" }).click();
  await page.getByText("Peak day: 3 Mar").waitFor();
});

const spent = { inputTokens: 1000, outputTokens: 200, cacheReadTokens: 40_000, cacheWrite5mTokens: 300 };
const april = "from=2026-04-01&to=2026-04-30";

/** Uploads sessions with an answer each that tells what it used. */
async function uploadSpent(
  ...sessions: { sourceId: string; at: string; model: string; costUsd?: number; speed?: string }[]
) {
  await send(
    sessions.map(({ sourceId, at, model, costUsd, speed }) => ({
      ...{ sourceId, source: "claude-code", project: "ledger", model },
      messages: [
        { position: 0, role: "user", content: "Add it up", createdAt: at },
        {
          ...{ position: 1, role: "assistant", content: "Done", createdAt: at, tokenCount: spent.outputTokens },
          metadata: { model, usage: spent, ...(costUsd && { costUsd }), ...(speed && { speed }) },
        },
      ],
    })),
  );
  await accountTraces(10);
}

test("money comes first, beside what has no price and what agents recorded, and the API has the same figures", async () => {
  await uploadSpent(
    { sourceId: "priced", at: "2026-04-02T12:00:00Z", model: "claude-opus-4-5-20251101", costUsd: 0.05 },
    { sourceId: "twin", at: "2026-04-03T12:00:00Z", model: "claude-opus-4-5" },
    { sourceId: "unheard of", at: "2026-04-03T13:00:00Z", model: "unheard-of-9" },
  );
  const answer = await page.request.get(`${server.url}/api/usage?${april}&unit=total&by=model`);
  const { total, values } = await answer.json();
  const thrice = Object.fromEntries(Object.entries(spent).map(([kind, tokens]) => [kind, 3 * tokens]));
  expect(total).toMatchObject({ ...thrice, sessions: 3, unpricedTokens: 41_500 });
  expect(values.map((one: { value: string }) => one.value)).toEqual(["claude-opus-4-5", "unheard-of-9"]);

  await open(`/usage?${april}`);
  const totals = page.getByRole("list", { name: "Measure of the charts" }).getByRole("link");
  const cost = `$${(total.costNano / 1e9).toFixed(2)}`;
  expect(await totals.allTextContents()).toEqual([`${cost}cost`, "124.5Ktokens", "6messages", "3sessions"]);
  expect(await totals.first().getAttribute("aria-current")).toBe("true");
  await page.getByText("Peak day: 2 Apr, $").waitFor();
  await page.getByText("Cache hit rate").waitFor();
  const unpriced = page.getByRole("region", { name: "Without a price" });
  expect(await unpriced.textContent()).toContain("unheard-of-941.5K tokens");
  expect(await page.getByRole("region", { name: "Recorded by agents" }).textContent()).toContain("$0.05");
  const href = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
  const file = await page.request.get(server.url + href);
  expect(file.headers()["content-type"]).toContain("text/csv");
  expect((await file.text()).match(/,claude-code,/g)).toHaveLength(2);

  await open(`/usage?${april}&model=claude-opus-4-5&show=sessions`);
  await page.getByRole("link", { name: /^Model: claude-opus-4-5.*show all models$/ }).waitFor();
  expect(await totals.last().textContent()).toBe("2sessions");
  expect(faults).toEqual([]);
});

test("what costs the standard price, since its tier has none, is said beside the sums, in the list and in the CSV", async () => {
  await uploadSpent({ sourceId: "fast", at: "2026-05-02T12:00:00Z", model: "claude-haiku-4-5", speed: "fast" });
  await open("/usage?from=2026-05-01&to=2026-05-31");
  const section = page.getByRole("region", { name: "Tier not priced" });
  expect(await section.textContent()).toContain("41.5K tokens count at the standard");
  expect(await section.textContent()).toContain("claude-haiku-4-541.5K tokens");
  const file = await page.request.get(`${server.url}/api/usage/export.csv?from=2026-05-02&to=2026-05-02`);
  const [head = "", row = ""] = (await file.text()).split("\r\n");
  expect(row.split(",")[head.split(",").indexOf("tier_not_priced_tokens")]).toBe("41500");

  await open("/traces?model=claude-haiku-4-5");
  const session = page.getByRole("list", { name: "Sessions" }).getByRole("listitem").first();
  await session.getByText("tier not priced", { exact: true }).waitFor();
  await session.getByRole("link", { name: "Add it up" }).focus();
  await session.getByText("41,500 tokens: tier not priced").waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  await session.getByText("tier not priced", { exact: true }).waitFor();
  await page.setViewportSize({ width: 1280, height: 720 });
  expect(faults).toEqual([]);
});

test("a session's cost and all of its tokens are in the list and on its page", async () => {
  await open("/traces?model=claude-opus-4-5-20251101");
  const row = page.getByRole("list", { name: "Sessions" }).getByRole("listitem").first();
  await row.getByText(/^\$0\.\d+$/).waitFor();
  const exact = row.getByText("41,500 tokens");
  await expect
    .poll(async () => {
      await page.mouse.move(0, 0); // the page's script may not have been there for the pointer's first coming
      await row.locator(".figures").hover();
      return exact.isVisible();
    })
    .toBe(true);
  await row.getByRole("link", { name: "Add it up" }).click();
  await page.getByText("41.5K tokens", { exact: true }).waitFor();
  await page.getByText("$0.05 recorded by the agent").waitFor();
  await page.locator("summary", { hasText: "Details" }).click();
  const models = page.getByRole("table", { name: "Tokens and cost of each model" });
  expect(await models.getByRole("row").nth(1).textContent()).toMatch(/^claude-opus-4-5.*1K200.*\$0\.\d+$/);
  await page.getByText("Machine", { exact: true }).waitFor();
});

test("a budget tells where the month stands, and can be changed and removed", async () => {
  await uploadSpent({ sourceId: "now", at: new Date().toISOString(), model: "claude-opus-4-5" });
  await open("/usage");
  await page.locator("summary", { hasText: "Set a budget" }).click();
  await page.getByLabel("US dollars per month").fill("a lot");
  await page.getByRole("button", { name: "Set budget" }).click();
  await page.getByText("Enter an amount, such as 200 or 49.50.").first().waitFor();
  await page.getByLabel("US dollars per month").fill("0.01");
  await page.getByLabel("For").selectOption({ label: "ledger" });
  await page.getByRole("button", { name: "Set budget" }).click();
  const budgets = page.getByRole("list", { name: "Budgets" });
  await budgets.getByText(/Over by \$0\.\d+/).waitFor();
  await budgets.getByText("Project: ledger").waitFor();
  await page.getByLabel("US dollars per month").fill("100");
  await page.getByLabel("For").selectOption({ label: "ledger" });
  await page.getByRole("button", { name: "Set", exact: true }).click();
  await budgets.getByText("<1% used").waitFor();
  await budgets.getByRole("button", { name: "Remove" }).click();
  await budgets.waitFor({ state: "detached" });
  expect(faults).toEqual([]);
});
