import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { watchFaults } from "../support/browser.ts";
import { isLong } from "../support/long.ts";
import { expectGoodLook, narrow, widths } from "../support/look.ts";
import { provideList } from "./list-page.ts";

const { server, browser, page, faults, open, link, rows, boxes, menu, query, store, storeFamily, reset } =
  await provideList();

describe("the list", () => {
  test("is narrowed by menus with counted values, each a step in the history, and widened by chips", async () => {
    await reset();
    await open();
    await page.getByText("120 sessions", { exact: true }).first().waitFor();
    await menu("Source").click();
    await link("codex-cli 40").click();
    await page.getByText("40 sessions", { exact: true }).first().waitFor();
    expect(query()).toBe("?source=codex-cli");
    await link("claude-code 80").click(); // the menu stays open: of several values a session has any
    await page.getByText("120 sessions", { exact: true }).first().waitFor();
    expect(query()).toBe("?source=codex-cli&source=claude-code");
    await link(/Remove filter source claude-code/).click();
    await page.getByText("40 sessions", { exact: true }).first().waitFor();
    expect(query()).toBe("?source=codex-cli");
    await menu("Project").click();
    await link("project-3 8").click();
    await page.getByText("8 sessions", { exact: true }).first().waitFor();
    await expect.poll(() => rows().count()).toBe(8);
    await page.goBack();
    await page.getByText("40 sessions", { exact: true }).first().waitFor();
    await page.goForward();
    await link(/Remove filter source/).click();
    await page.getByText("24 sessions", { exact: true }).first().waitFor();
    expect(query()).toBe("?project=project-3");
    await menu("Project").click(); // the menu of a set filter offers its other values
    await link("project-1 24").waitFor();
    await link("Any project").click();
    await page.getByText("120 sessions", { exact: true }).first().waitFor();
    await menu("Model").click();
    await page.getByLabel("Find model").fill("model-1");
    await page.getByLabel("Find model").press("Enter");
    await page.getByText("60 sessions", { exact: true }).first().waitFor();
    await menu("More").click();
    await page.locator("#filters summary", { hasText: "Machine" }).click();
    await link("ada-laptop 60").click();
    await link(/Remove filter machine ada-laptop/).waitFor();
    await page.locator("#filters summary", { hasText: "Length" }).click();
    await link("20 messages and more").click();
    await page.getByText("No session matches all of these filters.").waitFor();
    expect(query()).toBe("?model=model-1&machine=ada-laptop&minMessages=20");
    expect(faults).toEqual([]);
  });

  test("is paged, and its rows keep the filters in the session's address", async () => {
    await open("/traces?model=model-1");
    expect(await rows().count()).toBe(50);
    await link("Older").click();
    await link("Newest").waitFor();
    await expect.poll(() => rows().count()).toBe(10);
    await link("Newest").click();
    await link("Session 119").click();
    await page.waitForURL(/\/traces\/[0-9a-f-]{36}\?model=model-1$/);
  });

  test("filters by days of the reader's zone", async () => {
    await open();
    await menu("Date").click();
    await link("Last 7 days").click();
    await page.getByText("120 sessions", { exact: true }).first().waitFor();
    const today = new Date().toLocaleDateString("en-CA");
    await open(`/traces?to=${today}`);
    await page.getByText("120 sessions", { exact: true }).first().waitFor();
    await open("/traces?to=2020-01-01");
    await page.getByText("No session matches this filter.").waitFor();
    await page.getByText("to see 120 sessions").waitFor();
    await link("Remove to").click();
    await page.getByText("120 sessions", { exact: true }).first().waitFor();
  });

  test("is navigated by j, k and Enter, unless keys are off", async () => {
    await open();
    const focused = () => page.evaluate("document.activeElement.textContent");
    // The keys work as soon as the page's script does.
    const press = async (key: string) => page.keyboard.press(key).then(focused);
    await expect.poll(() => press("j")).toBe("Session 120");
    expect([await press("j"), await press("j"), await press("k")]).toEqual([
      "Session 119",
      "Session 118",
      "Session 119",
    ]);
    await page.getByText(/^1 message · 142,800 tokens · /).waitFor({ state: "visible" });
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/traces\/[0-9a-f-]{36}$/);
    await page.context().addCookies([{ name: "spoor_keys", value: "off", url: server.url }]);
    await open();
    await page.keyboard.press("j");
    expect(await focused()).not.toMatch(/^Session/);
    await page.context().clearCookies({ name: "spoor_keys" });
  });

  test("closes its menus at Escape and at a click elsewhere", async () => {
    await open();
    await menu("Source").click();
    await link("codex-cli 40").waitFor();
    await page.keyboard.press("Escape");
    await link("codex-cli 40").waitFor({ state: "hidden" });
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Source");
    await menu("Source").click();
    await page.mouse.click(5, 500);
    await link("codex-cli 40").waitFor({ state: "hidden" });
  });

  test("says that a menu's values are being counted", async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    await page.route("**/api/traces/facets*", async (route) => {
      await held;
      await route.fallback();
    });
    await open("/traces");
    await menu("Project").click();
    const counting = page.getByText("Counting…").filter({ visible: true });
    await counting.waitFor();
    letGo();
    await link("project-3 24").waitFor();
    await counting.waitFor({ state: "detached" });
    await page.unrouteAll({ behavior: "wait" });
  });

  test("gives a title the width of its row in a narrow window, as at 200 % zoom", async () => {
    await page.setViewportSize({ width: 640, height: 400 });
    await open("/traces");
    const title = page.locator(".session > a").first();
    expect(await title.evaluate((one) => one.getBoundingClientRect().width)).toBeGreaterThan(400);
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  test("links to a page with a menu's values where they can't be loaded", async () => {
    await page.route("**/api/traces/facets*", (request) => request.abort());
    await open();
    await menu("Source").click();
    const shown = page.waitForEvent("load"); // a request in flight when the route is removed may never be answered
    await link("Show the values").click();
    await shown;
    await page.unroute("**/api/traces/facets*");
    await menu("Source").click();
    await link("codex-cli 40").waitFor();
  });

  test("sends less than 1.5 KB a row and 100 KB in all, including React's payload", async () => {
    const weigh = async (path: string) => {
      const html = (await (await open(path))?.text()) ?? "";
      return { bytes: Buffer.byteLength(html), rows: await rows().count() };
    };
    const [many, few] = [await weigh("/traces"), await weigh("/traces?project=project-3&source=codex-cli")];
    expect([many.rows, few.rows]).toEqual([50, 8]);
    expect((many.bytes - few.bytes) / (many.rows - few.rows)).toBeLessThan(1500);
    expect(many.bytes).toBeLessThan(100_000);
  });

  test("says how many sessions are new, and links to them", async () => {
    // Counts the timers: the page's own is set once its script is at work.
    await page.clock.install();
    await page.addInitScript(() => {
      const begin = window.setInterval;
      window.setInterval = ((...words: Parameters<typeof begin>) => {
        if (words[1] === 15_000) Object.assign(window, { isPolling: true });
        return begin(...words);
      }) as typeof begin;
    });
    await open();
    await expect.poll(() => page.evaluate("window.isPolling")).toBe(true);
    await store(1999, 2000);
    await page.clock.fastForward(15_000);
    await link("2 new or changed ↑").click();
    await page.getByText("122 sessions", { exact: true }).first().waitFor();
    await link("Session 2000").waitFor();
  });
});

test("without script, sessions can be filtered, selected and deleted", async () => {
  await reset();
  const context = await browser.newContext({
    javaScriptEnabled: false,
    storageState: await page.context().storageState(),
  });
  context.setDefaultTimeout(10_000);
  const plain = await context.newPage();
  await open("/traces", plain);
  await menu("Source", plain).click();
  await plain.getByRole("link", { name: "Show the values" }).first().click();
  await menu("Source", plain).click();
  await link("codex-cli 40", plain).click();
  await plain.getByText("40 sessions", { exact: true }).first().waitFor();
  await boxes(plain).nth(0).check();
  await plain.getByRole("button", { name: "Delete ticked" }).click();
  await plain.getByRole("button", { name: "Delete", exact: true }).click();
  await plain.getByText("1 session was deleted.").waitFor();
  await link("Delete all", plain).click();
  await plain.getByText("Delete these 39 sessions?").waitFor();
  await context.close();
});

test("without script, the list folds what a session started, and the reader leads there and back", async () => {
  await reset();
  await storeFamily();
  const context = await browser.newContext({
    javaScriptEnabled: false,
    storageState: await page.context().storageState(),
  });
  context.setDefaultTimeout(10_000);
  const plain = await context.newPage();
  await open("/traces", plain);
  await plain.getByText("120 sessions (123 with sub-agents)").waitFor();
  expect(await rows(plain).count()).toBe(50);
  await plain.locator("summary", { hasText: "2 sub-agents, 1 fork" }).click();
  const children = plain.getByRole("list", { name: "2 sub-agents, 1 fork" }).getByRole("listitem");
  expect(await children.count()).toBe(3);
  await open("/traces?source=codex-cli", plain);
  await plain.getByText("43 sessions", { exact: true }).first().waitFor();
  await rows(plain).filter({ hasText: "Fork of Session 120" }).waitFor();

  await open("/traces", plain);
  await link("Session 120", plain).click();
  await plain.locator("summary", { hasText: "2 sub-agents, 1 fork" }).click();
  const total = plain.getByRole("row", { name: /together/ });
  await total.getByText("$2.49").waitFor();
  await plain.getByRole("link", { name: /^Its session · 40 messages · \$0\.42/ }).click();
  await plain.getByRole("heading", { name: "subagent number 1" }).waitFor();
  await plain.getByText("at message 2").waitFor();
  await link("Session 120", plain).click();
  await plain.waitForURL(/\?at=2$/);

  await plain.getByLabel("More about this session").click();
  await plain.getByRole("button", { name: "Delete", exact: true }).click();
  await plain.getByText("Delete its 2 sub-agents with 120 messages, too.").waitFor();
  await plain.getByRole("button", { name: "Delete", exact: true }).click();
  await plain.getByText("120 sessions", { exact: true }).first().waitFor();
  await link("Fork number 3", plain).waitFor();
  await context.close();
});

test.each(widths)("every state at %i px is accessible and fits", { timeout: 60_000 }, async (width) => {
  await reset();
  const context = await browser.newContext({
    viewport: { width, height: 740 },
    storageState: await page.context().storageState(),
  });
  const wrong = watchFaults(context);
  const tab = await context.newPage();
  const check = (name: string) => expectGoodLook(tab, `list-${name}`);
  await storeFamily();
  await open("/traces", tab);
  await tab.locator("summary", { hasText: "2 sub-agents, 1 fork" }).click();
  await check("family");
  await reset(20); // what follows has no more rows to say it of
  await storeFamily();
  await open("/traces?source=codex-cli", tab);
  await check("origins");
  await open("/traces", tab);
  await link("Session 120", tab).click();
  await tab.locator("[data-toolbar]").waitFor(); // the list has such a fold, too, and stays until the session is there
  await tab.locator("summary", { hasText: "2 sub-agents, 1 fork" }).click();
  await check("reader");
  await link("subagent number 1", tab).click();
  await tab.getByText("at message 2").waitFor();
  await check("reader-child");
  await open("/traces?project=project-0", tab);
  await boxes(tab).first().check();
  await tab.getByRole("button", { name: "Delete", exact: true }).click();
  await check("delete-family");
  await open("/traces?project=project-3&source=codex-cli", tab);
  await check("filtered");
  for (const of of isLong ? [width] : [width, narrow]) {
    await tab.setViewportSize({ width: of, height: 740 });
    await open("/traces", tab);
    await openMenu(tab, of);
    await check("menu");
  }
  await tab.setViewportSize({ width, height: 740 });
  await open("/traces?project=project-0", tab);
  await boxes(tab).nth(3).check();
  await tab.getByText("1 selected").waitFor();
  await tab.keyboard.press("j");
  await check("selected");
  await open("/traces/delete?all=1&project=project-3", tab);
  await check("delete");
  await open("/traces?source=nothing&project=project-3", tab);
  await check("no-hits");
  expect(wrong).toEqual([]);
  await context.close();
});

async function openMenu(tab: Page, width: number): Promise<void> {
  if (width < 640) await tab.getByRole("button", { name: "Filter" }).click();
  await menu("Project", tab).click();
  await link("project-3 4", tab).waitFor();
}
