import { describe, expect, test } from "vitest";
import { openIntercepted, signIn } from "../support/browser.ts";
import { storeSession } from "../support/long-session.ts";
import { owner } from "../support/server.ts";
import { belowBars, focused, mounted, poll, ready } from "./reader-page.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, userId, browser, page, faults, open } = await provideSignedIn();

const long = await storeSession(userId, { messages: 5000 });
const middle = await storeSession(userId, { messages: 400, title: "Middle", sourceId: "middle" });

async function openReady(path: string, on = page): Promise<void> {
  await open(path, on);
  await ready(on);
}

describe("folds that were opened and closed", () => {
  /** The folds of a part of the page that are not as the server draws them. */
  const touched = (on = page) =>
    on
      .locator("details[data-fold]")
      .evaluateAll((all) =>
        all
          .filter((one) => (one as HTMLDetailsElement).open !== one.hasAttribute("data-open"))
          .map((one) => one.closest("[data-position]")?.getAttribute("data-position")),
      );

  test("are restored on going back, with the scroll position and what was loaded into them", async () => {
    await openReady(`/traces/${middle}?at=190`);
    const [near, loaded] = [page.locator("#m192 details[data-fold]"), page.locator("#m194 details[data-load]")];
    await near.locator("summary").click();
    await loaded.locator("summary").click();
    await loaded.locator("[data-body] .code-block").first().waitFor();
    await poll(() => page.evaluate("history.state.spoorFolds.length")).toBe(2);
    const before = await belowBars(page, 192);
    await page.getByRole("link", { name: "Back to the list" }).click();
    await page.waitForURL((url) => url.pathname === "/traces");
    await page.goBack();
    await ready(page);
    await loaded.locator("[data-body] .code-block").first().waitFor();
    expect(await touched()).toEqual(["192", "194"]);
    await poll(() => belowBars(page, 192)).toBeCloseTo(before, -0.6);
    await page.reload();
    await ready(page);
    await poll(() => touched()).toEqual(["192", "194"]);
    await near.locator("summary").click();
    await poll(() => page.evaluate("history.state.spoorFolds.length")).toBe(1);
    expect(faults).toEqual([]);
  });
});

test("on a phone a link lands below the bars, which do not grow when the outline appears", async () => {
  const context = await browser.newContext({
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
    storageState: await page.context().storageState(),
  });
  const phone = await context.newPage();
  // From the first frame on: the outline may be there before anything else can ask.
  await phone.addInitScript(() => {
    const heights = new Set<number>();
    Object.assign(window, { heights });
    const look = () => {
      const bar = document.querySelector("[data-toolbar]");
      if (bar) heights.add(bar.getBoundingClientRect().height);
      requestAnimationFrame(look);
    };
    look();
  });
  await phone.goto(`${server.url}/traces/${long}?at=2501`);
  await phone.getByRole("button", { name: /^Outline: turn/ }).waitFor();
  const heights = await phone.evaluate(() => [...(window as unknown as { heights: Set<number> }).heights]);
  expect(heights).toHaveLength(1);
  const tabs = await phone.locator("header.bar").evaluate((bar) => bar.getBoundingClientRect().height);
  expect((heights[0] ?? 0) + tabs).toBeLessThanOrEqual(96);
  await poll(() => focused(phone)).toBe(2501);
  await poll(() => belowBars(phone, 2501)).toBeCloseTo(8, -0.6);
  const talk = phone.getByRole("link", { name: "Conversation", exact: true });
  await phone.getByLabel("More", { exact: true }).click();
  await talk.click();
  await phone.waitForURL(/view=talk/);
  expect(await talk.isVisible()).toBe(false); // the menu has closed
  await context.close();
});

test("the outline's width is the reader's own, by keys and by hand, and stays for the next page", async () => {
  await openReady(`/traces/${middle}`);
  const edge = page.getByRole("separator", { name: "Width of the outline" });
  const width = () => page.locator("aside").evaluate((aside) => aside.clientWidth);
  expect(await width()).toBe(320);
  await edge.press("ArrowRight");
  await edge.press("ArrowRight");
  await poll(width).toBe(352);
  await openReady(`/traces/${middle}`);
  expect(await width()).toBe(352);
  const box = await edge.boundingBox();
  if (!box) throw new Error("the edge is not shown");
  await page.mouse.move(box.x + 2, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 130, box.y + 300, { steps: 4 });
  await page.mouse.up();
  await poll(width).toBe(480);
  expect((await page.context().cookies()).find(({ name }) => name === "spoor_outline")?.value).toBe("30");
  await edge.dblclick();
  await poll(width).toBe(320);
  expect(faults).toEqual([]);
});

test("the list's query is found in the session, quoted or in parts, at the message that was followed", async () => {
  const output = page.locator("output");
  const said = page.getByLabel("Find", { exact: true }).and(page.locator("input"));
  await openReady(`/traces/${long}?${new URLSearchParams({ q: `"Question 3100"` })}`);
  await poll(() => output.textContent()).toBe("1 of 1 in 1 message");
  await openReady(`/traces/${long}?${new URLSearchParams({ at: "3100", q: "module 3100" })}`);
  await poll(() => said.inputValue()).toBe("module");
  await poll(() => output.textContent()).toMatch(/^[\d,]{2,} of [\d,]+ in [\d,]+ messages$/);
  await poll(() => belowBars(page, 3100)).toBeGreaterThanOrEqual(0);
});

test("while later messages are loading the page says so in view", async () => {
  const { page: other } = await openIntercepted(page);
  await openReady(`/traces/${middle}`, other);
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  await other.route(`**/traces/${middle}*`, async (route) => {
    if (route.request().method() === "POST") await held;
    await route.fallback();
  });
  const before = (await mounted(other)).last;
  await other.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
  const told = other.getByText("Loading later messages…");
  const isInSight = () =>
    told.evaluate((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return top > 48 && bottom < innerHeight;
    });
  await poll(isInSight).toBe(true);
  letGo();
  await poll(async () => (await mounted(other)).last).toBeGreaterThan(before);
  await other.unrouteAll({ behavior: "wait" });
  await other.context().close();
});

test("edges that both failed to load say so, and one that is tried again brings both", async () => {
  const { page: other } = await openIntercepted(page);
  await other.setViewportSize({ width: 1280, height: 6000 }); // both edges are near
  await other.route(`**/traces/${long}*`, (route) =>
    route.request().method() === "POST" ? route.abort() : route.fallback(),
  );
  await openReady(`/traces/${long}?at=2500`, other);
  const again = other.getByRole("button", { name: "Try again" });
  await poll(() => again.count()).toBe(2);
  const before = await mounted(other);
  await other.unrouteAll({ behavior: "wait" });
  await again.first().click();
  await poll(async () => (await mounted(other)).first).toBeLessThan(before.first);
  await poll(async () => (await mounted(other)).last).toBeGreaterThan(before.last);
  expect(await again.count()).toBe(0);
  await other.context().close();
});

test("a session is printed on white, without the outline, whatever the theme", async () => {
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  await open(`/traces/${middle}`);
  expect(await page.evaluate("getComputedStyle(document.body).color")).toBe("rgb(18, 25, 27)");
  expect(await page.locator("aside").isVisible()).toBe(false);
  expect(await page.locator("[data-toolbar]").isVisible()).toBe(false);
  await page.emulateMedia({ colorScheme: null, media: null });
});

test("words of a script that runs from right to left begin at the right, and a table's words stay whole", async () => {
  const content = `مرحبا بالعالم\n\n1. قراءة\n\n| file | what |\n|-|-|\n| \`provider_factory.go\` | ${"long words ".repeat(30)}|`;
  const id = await storeSession(userId, { messages: 1, title: "Right", sourceId: "right", content: `'${content}'` });
  await openReady(`/traces/${id}`);
  const gap = (selector: string) =>
    page.locator(selector).evaluate((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return one.getBoundingClientRect().right - range.getBoundingClientRect().right;
    });
  expect(await gap("#m0 .prose p")).toBeLessThan(2);
  expect(await page.locator("#m0 ol").evaluate((list) => getComputedStyle(list).direction)).toBe("rtl");
  const lines = page.locator("#m0 td code").evaluate((code) => code.getClientRects().length);
  expect(await lines).toBe(1);
});

test.each([1280, 360])("without script the outline is a list of links, at %i px", async (width) => {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width, height: 740 } });
  const plain = await context.newPage();
  await signIn(plain, server, owner);
  await open(`/traces/${middle}`, plain);
  if (width < 1024) await plain.getByRole("link", { name: "Outline", exact: true }).click();
  await plain.getByRole("link", { name: /Question 350/ }).click();
  expect(new URL(plain.url()).searchParams.get("at")).toBe("350");
  await plain.locator("#m350").waitFor();
  expect(await plain.getByText("Reading the outline…").isVisible()).toBe(false);
  // What the tabs show with a script: the files, and what failed.
  await poll(() => plain.locator("[data-outline] noscript > :is(p, ul):visible").count()).toBe(2);
  for (const name of ["Find", "Resume", "Show or hide the outline"])
    expect(await plain.getByRole("button", { name }).isVisible(), name).toBe(false);
  await context.close();
});
