import type { Page } from "playwright";
import { beforeEach, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { openIntercepted } from "../support/browser.ts";
import { longTest } from "../support/long.ts";
import { storeSession } from "../support/long-session.ts";
import { belowBars, focused, poll, ready } from "./reader-page.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, userId, page, faults, open, field } = await provideSignedIn();

for (let at = 0; at < 40; at += 1)
  await storeSession(userId, { messages: at < 15 ? 150 : 3, title: `Session ${at}`, sourceId: `soft-${at}` });
await pool().query(
  "update trace set activity_at = '2026-01-01T00:00:00Z'::timestamptz + substring(title from '[0-9]+')::int * interval '1 day'",
);

const link = (name: string | RegExp, on = page) => on.getByRole("link", { name, exact: typeof name === "string" });
const heading = (name: string, on = page) => on.getByRole("heading", { level: 1, name, exact: true });
const row = (name: string, on = page) => on.locator("a[data-row]", { hasText: new RegExp(`^${name}$`) });
const isReader = (url: URL) => /^\/traces\/[0-9a-f-]{36}$/.test(url.pathname);
const isList = (url: URL) => url.pathname === "/traces";
const focusedText = () => page.evaluate("document.activeElement.textContent");

/** Opens a page and marks its window, which a load of another document replaces. */
async function mark(path: string, on = page): Promise<void> {
  await open(path, on);
  await on.waitForLoadState("networkidle");
  await on.evaluate("window.isSamePage = true");
}
const isMarked = (on = page) => on.evaluate("window.isSamePage === true");

beforeEach(() => page.emulateMedia({ reducedMotion: null }));

describe("without a reload of the document", () => {
  test("a row, Newer and Older, the way back and the keys for them lead on", async () => {
    await mark("/traces");
    await row("Session 5").click();
    await heading("Session 5").waitFor();
    await ready(page);
    expect(await focusedText()).toBe("Session 5");
    await poll(() => page.title()).toBe("Session 5 · Spoor");
    const announced = () =>
      page.evaluate(() => document.querySelector("next-route-announcer")?.shadowRoot?.textContent);
    await poll(announced).toMatch(/^Session 5/);
    await link("Older: Session 4").click();
    await heading("Session 4").waitFor();
    await ready(page);
    await link("Newer: Session 5").click();
    await heading("Session 5").waitFor();
    await ready(page);
    await page.keyboard.press("]");
    await heading("Session 4").waitFor();
    await ready(page);
    await page.keyboard.press("[");
    await heading("Session 5").waitFor();
    await ready(page);
    await page.keyboard.press("u");
    await page.waitForURL(isList);
    await row("Session 39").waitFor();
    await poll(() => page.keyboard.press("j").then(focusedText)).toBe("Session 39");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await heading("Session 38").waitFor();
    await link("Back to the list").click();
    await page.waitForURL(isList);
    await link("Home").first().click();
    await page.waitForURL(`${server.url}/home`);
    await page.getByRole("list").getByRole("link", { name: "Session 39", exact: true }).first().click();
    await heading("Session 39").waitFor();
    expect(await isMarked()).toBe(true);
    expect(faults).toEqual([]);
  }, 90_000);

  test("going back leads to the place in the list, its ticked boxes and the row, and to the place in the session", async () => {
    await mark("/traces");
    await page.getByRole("list", { name: "Sessions" }).getByRole("checkbox").first().check();
    await row("Session 3").scrollIntoViewIfNeeded();
    const scrolled = await page.evaluate("window.scrollY");
    expect(scrolled).toBeGreaterThan(300);
    await row("Session 3").click();
    await heading("Session 3").waitFor();
    await ready(page);
    expect(await page.evaluate("window.scrollY")).toBe(0);
    await page.locator("#m40").evaluate((one) => window.scrollBy(0, one.getBoundingClientRect().top - 200));
    await poll(() => page.evaluate("history.state.spoor?.position > 30")).toBe(true);
    const stood = await belowBars(page, 40);
    await page.goBack();
    await row("Session 3").waitFor();
    await poll(() => page.evaluate("window.scrollY")).toBe(scrolled);
    expect(await focusedText()).toBe("Session 3");
    await page.getByText("1 selected", { exact: true }).waitFor();
    await page.goForward();
    await heading("Session 3").waitFor();
    await poll(() => belowBars(page, 40)).toBeCloseTo(stood, -0.6);
    await link("Older: Session 2").click();
    await heading("Session 2").waitFor();
    await poll(() => page.evaluate("window.scrollY")).toBe(0);
    await page.goBack();
    await heading("Session 3").waitFor();
    await poll(() => belowBars(page, 40)).toBeCloseTo(stood, -0.6);
    expect(await isMarked()).toBe(true);
    expect(faults).toEqual([]);
  }, 60_000);

  test("a link to a message arrives at it, before anything else of the session shows", async () => {
    await mark("/home");
    const id = await findId("Session 6");
    await page.evaluate((href) => {
      const made = Object.assign(document.createElement("a"), { href, textContent: "To the message" });
      document.querySelector("main")?.prepend(made);
      const tops: number[] = [];
      Object.assign(window, { tops });
      const look = () => {
        const top = document.getElementById("m70")?.getBoundingClientRect().top;
        if (top !== undefined) tops.push(Math.round(top));
        requestAnimationFrame(look);
      };
      look();
    }, `/traces/${id}?at=70`);
    await link("To the message").click();
    await poll(() => focused(page)).toBe(70);
    await poll(() => belowBars(page, 70)).toBeCloseTo(8, -0.6);
    await page.waitForTimeout(300);
    const tops = await page.evaluate(() => (window as unknown as { tops: number[] }).tops);
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThanOrEqual(2);
    expect(await isMarked()).toBe(true);
  });

  longTest(
    "nothing of a session stays for the next: listeners, requests, folds and what was found",
    async () => {
      await mark("/traces");
      const session = await page.context().newCDPSession(page);
      await session.send("Performance.enable");
      const measure = async () => {
        await session.send("HeapProfiler.collectGarbage");
        const { metrics } = await session.send("Performance.getMetrics");
        const of = (name: string) => metrics.find((one) => one.name === name)?.value ?? 0;
        return { listeners: of("JSEventListeners"), megabytes: of("JSHeapUsedSize") / 1e6, nodes: of("Nodes") };
      };
      const visit = async (at: number) => {
        await page.keyboard.press("]");
        await heading(`Session ${at}`).waitFor();
        await ready(page);
      };
      await row("Session 14").click();
      await heading("Session 14").waitFor();
      await ready(page);
      await page.keyboard.press("f");
      await page.keyboard.type("module");
      await page.locator("output", { hasText: " of " }).waitFor();
      await page.locator("article details[data-fold] > summary").first().click();
      await page.keyboard.press("Escape");
      for (const at of [13, 12]) await visit(at);
      expect(await page.locator("search").count()).toBe(0);
      expect(await page.evaluate("history.state.spoorFolds ?? null")).toBe(null);
      const before = await measure();
      for (let at = 11; at >= 2; at -= 1) await visit(at);
      await page.waitForTimeout(1000);
      const after = await measure();
      process.stdout.write(`ten sessions: ${JSON.stringify({ before, after })}\n`);
      expect(after.listeners).toBeLessThanOrEqual(before.listeners + 20);
      expect(after.megabytes).toBeLessThanOrEqual(before.megabytes + 5);
      expect(await isMarked()).toBe(true);
      const asked: string[] = [];
      page.on("request", (request) => asked.push(new URL(request.url()).pathname));
      await page.keyboard.press("End");
      await page.locator("#m149").waitFor({ state: "attached" });
      await page.waitForTimeout(11_000);
      const growth = asked.filter((path) => path.endsWith("/growth"));
      expect(new Set(growth)).toEqual(new Set([`/api/traces/${await findId("Session 2")}/growth`]));
      expect(growth.length).toBeLessThanOrEqual(2);
      page.removeAllListeners("request");
      expect(faults).toEqual([]);
    },
    120_000,
  );

  test("only a page that takes long shows its shape", async () => {
    const { page: other, faults } = await openIntercepted(page);
    await mark("/traces", other);
    await other.evaluate(() => {
      const seen = { shapes: 0 };
      Object.assign(window, { seen });
      new MutationObserver(() => {
        if (document.documentElement.dataset.loading) seen.shapes += 1;
      }).observe(document.documentElement, { attributes: true });
    });
    const seen = () => other.evaluate(() => (window as unknown as { seen: object }).seen);
    let delay = 700;
    await other.route("**/traces/*_rsc=*", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, delay));
      await route.continue().catch(() => {});
    });
    await row("Session 39", other).click();
    await other.locator("[data-loading] .shapes").waitFor();
    await heading("Session 39", other).waitFor();
    expect(await other.locator("[data-loading]").count()).toBe(0);
    expect(await seen()).toEqual({ shapes: 1 });
    delay = 0;
    await link("Older: Session 38", other).click();
    await heading("Session 38", other).waitFor();
    expect(await other.locator("[data-loading]").count()).toBe(0);
    await other.unrouteAll({ behavior: "wait" });
    expect(faults).toEqual([]);
    await other.context().close();
  });
});

test("a page that fails shows the id of its request, and so does a page that does not exist", async () => {
  await pool().query("alter table trace rename to trace_away");
  const failed = await open("/traces");
  await page.getByText("This page could not be shown").waitFor();
  const failedId = failed?.headers()["x-request-id"] ?? "";
  expect(failedId).toMatch(/^[0-9a-f-]{36}$/);
  await page.getByText(failedId, { exact: true }).waitFor();
  await pool().query("alter table trace_away rename to trace");

  const missing = await open("/nothing");
  expect(missing?.status()).toBe(404);
  await page.getByText(missing?.headers()["x-request-id"] ?? "", { exact: true }).waitFor();
});

test("the API's page shows its reference with and without script, and copies a command", async () => {
  await page.context().grantPermissions(["clipboard-write"]);
  await open("/docs");
  const entry = page.locator("section#post-ingest");
  const command = await entry.locator("pre").first().textContent();
  expect(command).toContain(`BASE=${server.url}`);
  await entry.getByRole("button", { name: "Copy" }).click();
  await entry.getByRole("button", { name: "Copied" }).waitFor();
  await entry.getByRole("button", { name: "Copy", exact: true }).waitFor();
  expect(faults).toEqual([]);
  const plain = await (await fetch(`${server.url}/docs`)).text();
  expect(plain).toContain('<section id="post-ingest"');
  expect(Buffer.byteLength(plain)).toBeLessThan(300_000);
});

test("a link is a link: with Ctrl a tab of its own, and what the server refuses is loaded", async () => {
  await mark("/traces");
  const opened = page.context().waitForEvent("page");
  await row("Session 7").click({ modifiers: ["Control"] });
  const tab: Page = await opened;
  await tab.waitForURL(isReader);
  await tab.close();
  expect(isList(new URL(page.url()))).toBe(true);
  await page.context().clearCookies({ name: "authlib.session_token" });
  await row("Session 7").click();
  await page.waitForURL(/\/sign-in\?next=/);
  await field("Email").waitFor();
});

async function findId(title: string): Promise<string> {
  const { rows } = await pool().query<{ id: string }>("select id from trace where title = $1", [title]);
  return rows[0]?.id ?? "";
}
