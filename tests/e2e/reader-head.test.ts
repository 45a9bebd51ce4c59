import type { Page } from "playwright";
import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { isLong } from "../support/long.ts";
import { storeSession } from "../support/long-session.ts";
import { ingest, logIn } from "../support/server.ts";
import { poll, ready } from "./reader-page.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, userId, browser, page, faults, open, button } = await provideSignedIn(undefined, true);
await page.context().grantPermissions(["clipboard-write"]);

const title = `Mend the watcher ${"that loses what a shorter commit left behind ".repeat(4)}`.trim();
const long = await storeSession(userId, { messages: 400, title, sourceId: "head" });
await pool().query(
  `update trace set lines_added = 38, lines_removed = 4, files_changed = 3, error_count = 2, call_count = 88,
     active_seconds = 1320, cost_nano = 1960000000 where id = $1`,
  [long],
);

async function openReady(path: string, on = page): Promise<void> {
  await open(path, on);
  await ready(on);
}

test("the head has the title and four figures; the toolbar has the title once the head has left", async () => {
  await openReady(`/traces/${long}`);
  const heading = page.getByRole("heading", { level: 1 });
  expect(await heading.textContent()).toMatch(/^Mend the watcher /);
  expect(await heading.getAttribute("title")).toBe(title);
  const figures = await page.locator(".head-figures > div").allTextContents();
  expect(figures.map((text) => text.replace(/\s+/g, " "))).toEqual([
    expect.stringMatching(/^Time22 min/),
    expect.stringMatching(/^Cost\$1\.96/),
    "Changes+38 −4in 3 files",
    "Errors2in 88 calls",
  ]);
  const inToolbar = page.locator(".toolbar-title");
  const opacity = () => inToolbar.evaluate((one) => getComputedStyle(one).opacity);
  await poll(opacity).toBe("0");
  await page.keyboard.press("End");
  await poll(opacity).toBe("1");
  expect(await inToolbar.getAttribute("title")).toBe(title);
  expect(faults).toEqual([]);
});

test("the star, the link and the menu of a session work from its head", async () => {
  await openReady(`/traces/${long}`);
  await button("Star").click();
  await button("Remove the star").waitFor();
  await button("Copy link").click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.getByText("Rename, tag, note").isVisible()).toBe(false);
  await page.getByLabel("More about this session").click();
  await page.getByText("Rename, tag, note").click();
  await page.getByLabel("Tags, separated by commas").fill("watcher");
  await button("Save").click();
  await page.getByRole("link", { name: "#watcher" }).waitFor();
  expect(faults).toEqual([]);
});

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

test("on a phone the first message is on the first screen", async () => {
  const context = await browser.newContext({ ...phone, storageState: await page.context().storageState() });
  const other = await context.newPage();
  await openReady(`/traces/${long}`, other);
  const message = await other.locator("#m0").boundingBox();
  const bar = await other.locator("header.bar").boundingBox();
  expect((message?.y ?? Number.NaN) + 80).toBeLessThan(bar?.y ?? 0);
  await context.close();
});

/** Collects what moved without a touch or key, from the first frame on. */
const watchShifts = (on: Page) =>
  on.addInitScript(() => {
    const watched = { sum: 0 };
    Object.assign(window, { shifts: watched });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput } = entry as PerformanceEntry & { value: number; hadRecentInput: boolean };
        if (!hadRecentInput) watched.sum += value;
      }
    }).observe({ type: "layout-shift", buffered: true });
  });

test.each([
  ["1280 px", { viewport: { width: 1280, height: 800 } }],
  ["a phone", phone],
])(
  "nothing moves by itself on a page, at %s",
  async (_, options) => {
    const context = await browser.newContext({ ...options, storageState: await page.context().storageState() });
    const other = await context.newPage();
    await watchShifts(other);
    const sums: Record<string, number> = {};
    for (const path of ["/home", "/traces", "/projects", "/usage", `/traces/${long}`, `/traces/${long}?at=200`]) {
      await open(path, other);
      if (path.startsWith("/traces/")) {
        await ready(other);
        for (let turns = 0; turns < 5; turns += 1) {
          await other.mouse.wheel(0, 900);
          await other.waitForTimeout(100);
        }
      }
      await other.waitForTimeout(300);
      sums[path] = await other.evaluate(() => (window as unknown as { shifts: { sum: number } }).shifts.sum);
    }
    expect(Object.entries(sums).filter(([, sum]) => sum > 0.02)).toEqual([]);
    await context.close();
  },
  60_000,
);

const live = (count: number) => ({
  ...{ source: "claude-code", sourceId: "pushed", title: "Pushed" },
  messages: Array.from({ length: count }, (_, position) => ({
    position,
    role: position % 2 ? "assistant" : "user",
    content: `Part ${position}. ${"It is done. ".repeat(60)}`,
    createdAt: new Date(Date.now() - 60_000 + position * 1000).toISOString(),
  })),
});

test("an uploaded message is pushed to the page, which follows it unless that is switched off", async () => {
  const token = await logIn(server, userId);
  await ingest(server, token, [live(20)]);
  const { rows } = await pool().query<{ id: string }>("select id from trace where source_id = 'pushed'");
  await openReady(`/traces/${rows[0]?.id}`);
  await page.keyboard.press("End");
  const left = () =>
    page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight - Math.ceil(window.scrollY));
  await poll(left).toBeLessThanOrEqual(0);
  await page.waitForTimeout(500); // the stream has begun
  const sent = performance.now();
  await ingest(server, token, [live(21)]);
  await page.locator("#m20").waitFor();
  // A busy machine is slower, but asking would take ten seconds.
  expect(performance.now() - sent).toBeLessThan(isLong ? 1500 : 9000);
  await poll(left).toBeLessThanOrEqual(0);
  const follow = page.getByRole("button", { name: "Follow new messages" });
  expect(await follow.getAttribute("aria-pressed")).toBe("true");
  await follow.click();
  await ingest(server, token, [live(22)]);
  await page.getByRole("button", { name: "1 new message ↓" }).waitFor();
  expect(await page.locator("#m21").count()).toBe(0);
  await follow.click();
  await page.locator("#m21").waitFor();
  await poll(left).toBeLessThanOrEqual(0);
  expect(faults).toEqual([]);
});
