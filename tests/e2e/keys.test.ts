import { expect, test, vi } from "vitest";
import { findOwner } from "#lib/auth/accounts";
import { pool } from "#lib/db/client";
import { expectGoodLook } from "../support/look.ts";
import { ingest, logIn } from "../support/server.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, page, faults, open, button } = await provideSignedIn(undefined, true);

// A page has loaded before its script listens, so keys are pressed until it does.
const patience = { interval: 500, timeout: 30_000 };

/** Presses keys and waits for the page that they lead to. */
async function pressTo(path: string, ...keys: string[]) {
  const press = async () => {
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForURL(server.url + path, { timeout: 400 });
  };
  await vi.waitFor(press, patience);
}

/** Opens the help, which takes no further keys. */
async function askForHelp() {
  const press = () => page.keyboard.press("?").then(() => help().isVisible());
  await expect.poll(press, patience).toBe(true);
}

const help = () => page.getByRole("dialog", { name: "Keys" });

test("g and a letter lead to each page, and ? says which; the help gives the focus back", async () => {
  await open("/traces");
  await pressTo("/uploads", "g", "u");
  await pressTo("/traces", "g", "t");
  await button("Sign out").waitFor({ state: "hidden" });
  await page.locator("header summary").focus();
  await askForHelp();
  expect(await help().textContent()).toMatch(/Everywhere[\s\S]*(?:Ctrl|⌘)KGo to a page[\s\S]*Uploads/);
  await page.keyboard.press("g");
  await page.keyboard.press("u");
  await page.keyboard.press("Escape");
  await help().waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");
  expect(page.url()).toBe(`${server.url}/traces`);
  expect(faults).toEqual([]);
});

test("Escape closes the menu and its opener has the focus; keys typed into a field are text", async () => {
  await open("/devices");
  await page.locator("header summary").click();
  await page.getByRole("link", { name: "Settings" }).focus();
  await page.keyboard.press("Escape");
  await button("Sign out").waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");
  const machine = page.getByLabel("Machine", { exact: true });
  await machine.fill("");
  await machine.press("g");
  await machine.press("u");
  await machine.press("?");
  expect(await machine.inputValue()).toBe("gu?");
  expect(page.url()).toBe(`${server.url}/devices`);
});

test("keys can be switched off, and on again", async () => {
  await open("/settings");
  const group = page.getByRole("group", { name: "Keyboard shortcuts" });
  await group.getByRole("button", { name: "Off" }).click();
  await group.locator("[aria-pressed=true]", { hasText: "Off" }).waitFor();
  await open("/traces");
  for (const key of ["?", "g", "u"]) await page.keyboard.press(key);
  expect(await help().count()).toBe(0);
  expect(page.url()).toBe(`${server.url}/traces`);
  await open("/settings");
  await group.getByRole("button", { name: "On", exact: true }).click();
  await group.locator("[aria-pressed=true]", { hasText: "On" }).waitFor();
  await askForHelp();
});

test("Ctrl+K leads to pages, sessions and what can be done with the open one, by keyboard alone", async () => {
  const token = await logIn(server, (await findOwner()) ?? "");
  const sessions = ["Fix the flaky watcher", "Plan 100% of the move"].map((title, at) => ({
    sourceId: `palette-${at}`,
    title,
    messages: [{ position: 0, role: "user", content: "hello" }],
  }));
  await ingest(server, token, sessions);
  await open("/devices");
  const palette = page.getByRole("dialog", { name: "Go to" });
  const field = palette.getByRole("combobox");
  const press = () => page.keyboard.press("Control+k").then(() => field.waitFor({ timeout: 2000 }));
  await vi.waitFor(press, patience);
  await field.fill("flaky watch");
  await palette.getByRole("option", { name: "Fix the flaky watcher" }).waitFor();
  await field.fill("100%");
  await palette.getByRole("option", { name: "Fix the flaky watcher" }).waitFor({ state: "detached" });
  await palette.getByRole("option", { name: "Plan 100% of the move" }).waitFor();
  await expectGoodLook(page, "palette");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/traces\/[0-9a-f-]{36}$/);
  await palette.waitFor({ state: "hidden" });
  await vi.waitFor(press, patience);
  await field.fill("diagn");
  await palette.getByRole("option", { name: "Diagnostics" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${server.url}/diagnostics`);
  await page.getByRole("button", { name: "Go to…" }).click();
  await field.waitFor();
  await page.keyboard.press("Escape");
  await palette.waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.textContent")).toMatch(/^Go to/);
  expect(faults).toEqual([]);
}, 60_000);

test("on a phone the bar is below, in reach of a thumb: pages as tabs, and all of them in the menu's sheet", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open("/traces");
  const bar = await page.locator("header.bar").boundingBox();
  expect(bar && [bar.y + bar.height, bar.height <= 49]).toEqual([740, true]);
  await page.getByRole("navigation", { name: "Pages", exact: true }).getByRole("link", { name: "Home" }).click();
  await page.waitForURL(`${server.url}/home`);
  const links = page.getByRole("navigation", { name: "Pages in the menu" });
  expect(await links.isVisible()).toBe(false);
  await page.locator("header summary").click();
  await links.getByRole("link", { name: "Machines" }).click();
  await page.waitForURL(`${server.url}/devices`);
});

test("the home page tells what is new since the visit before, once it was seen", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await setClock("2 hours");
  await open("/home");
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toMatch(/^Nothing new since|^2 sessions since/);
  const token = await logIn(server, (await findOwner()) ?? "");
  await ingest(server, token, [
    {
      sourceId: "news",
      title: "What is new",
      messages: [
        { position: 0, role: "user", content: "Mend it", createdAt: minutesAgo(8) },
        { position: 1, role: "assistant", content: "It is mended.", createdAt: minutesAgo(7), metadata: ended },
      ],
    },
  ]);
  await open("/home");
  const running = page.getByRole("list", { name: "Running now" }).getByRole("listitem");
  const said = running.filter({ has: page.getByRole("link", { name: "What is new" }) }).locator(".live-mark");
  expect(await said.textContent()).toBe("Agent is waiting");
  const seenAt = () =>
    pool()
      .query('select seen_at from "user"')
      .then(({ rows }) => rows[0]?.seen_at as Date | null);
  const before = await seenAt();
  await expect.poll(async () => (await seenAt())?.getTime(), patience).toBeGreaterThan(before?.getTime() ?? 0);
});

const ended = { stopReason: "end_turn" };
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** As if the person had seen the home page so long ago. */
const setClock = (ago: string) =>
  pool().query('update "user" set seen_at = now() - $1::interval, news_since = null', [ago]);
