import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { openIntercepted, signIn } from "../support/browser.ts";
import { isLong } from "../support/long.ts";
import { addMessages, storeSession } from "../support/long-session.ts";
import { expectGoodLook, narrow, widths } from "../support/look.ts";
import { owner } from "../support/server.ts";
import { belowBars, focused, poll, ready } from "./reader-page.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, userId, browser, page, faults, open } = await provideSignedIn();
await page.context().grantPermissions(["clipboard-write"]);
// The server's policy lets no page of its own read the clipboard, so another one shows what is in it.
const pasteboard = await page.context().newPage();
await pasteboard.setContent("<textarea></textarea>");

const middle = await storeSession(userId, { messages: 400, title: "Middle", sourceId: "middle" });
const short = await storeSession(userId, { messages: 120, title: "Short", sourceId: "short" });

async function clipboard(): Promise<string> {
  const field = pasteboard.locator("textarea");
  await field.fill("");
  await field.press("Control+V");
  return field.inputValue();
}
async function openReady(path: string, on = page): Promise<void> {
  await open(path, on);
  await ready(on);
}

describe("keys", () => {
  test("step through messages and turns, and back", async () => {
    await openReady(`/traces/${middle}`);
    await page.keyboard.press("j");
    await poll(() => focused(page)).not.toBeNaN();
    const first = await focused(page);
    await page.keyboard.press("j");
    await poll(() => focused(page)).toBeGreaterThan(first);
    const second = await focused(page);
    await poll(() => belowBars(page, second)).toBeCloseTo(8, -0.6);
    await page.keyboard.press("k");
    await poll(() => focused(page)).toBe(first);
    await page.keyboard.press("J");
    await poll(() => focused(page)).toBe(50);
    await poll(() => belowBars(page, 50)).toBeLessThan(40); // a step continues from what is in sight
    await page.keyboard.press("J");
    await poll(() => focused(page)).toBe(100);
    await poll(() => belowBars(page, 100)).toBeLessThan(40);
    expect(new URL(page.url()).searchParams.get("at")).toBe("100");
    await page.keyboard.press("K");
    await poll(() => focused(page)).toBe(50);
    await page.goBack();
    await poll(() => belowBars(page, 100)).toBeLessThan(40);
    expect(faults).toEqual([]);
  });

  test("open folds, copy, and show help", async () => {
    await openReady(`/traces/${middle}?at=3`);
    await poll(() => focused(page)).toBe(3);
    const unfolded = () => page.locator("#m3 details[open]").count();
    await page.keyboard.press("o");
    await poll(unfolded).toBeGreaterThan(0);
    await page.keyboard.press("o");
    await poll(unfolded).toBe(0);
    await page.keyboard.press("c");
    await poll(clipboard).toContain('<tool-use data-tool-type="shell"');
    await page.keyboard.press("y");
    await poll(clipboard).toBe(`${server.url}/traces/${middle}?at=3`);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("j");
    expect(await focused(page)).not.toBe(4);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(faults).toEqual([]);
  });

  test("lead to the neighbours in the filtered list and back to the list", async () => {
    await openReady(`/traces/${middle}?source=claude-code`);
    await page.keyboard.press("]");
    await page.waitForURL(new RegExp(`/traces/${short}\\?source=claude-code$`));
    await ready(page);
    await page.keyboard.press("[");
    await page.waitForURL(new RegExp(`/traces/${middle}\\?`));
    await ready(page);
    await page.keyboard.press("u");
    await page.waitForURL(`${server.url}/traces?source=claude-code`);
  });

  test("do nothing while a person types, or when they are switched off", async () => {
    await openReady(`/traces/${middle}`);
    await page.keyboard.press("f");
    await page.keyboard.type("jjv?");
    expect(await page.locator("#find").inputValue()).toBe("jjv?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.context().addCookies([{ name: "spoor_keys", value: "off", url: server.url }]);
    await openReady(`/traces/${middle}`);
    await page.keyboard.press("?");
    await page.keyboard.press("j");
    expect(await focused(page)).toBeNaN();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.context().clearCookies({ name: "spoor_keys" });
  });
});

describe("Conversation", () => {
  test("leaves tools out, and keeps the place when the view changes", async () => {
    await openReady(`/traces/${middle}?at=102`); // a command
    await poll(() => focused(page)).toBe(102);
    const tools = () => page.locator("article[data-kind=shell]:not([data-failed])").count();
    await page.evaluate("window.isSamePage = true");
    await page.keyboard.press("v");
    await page.waitForURL(/view=talk/);
    await poll(tools).toBe(0);
    await poll(() => focused(page)).toBe(100);
    expect(await page.locator("article[data-kind=user]").count()).toBeGreaterThan(2);
    const chosen = page.getByRole("link", { name: "Conversation", exact: true });
    expect(await chosen.getAttribute("aria-current")).toBe("true");
    await page.goBack();
    await poll(tools).toBeGreaterThan(0);
    await poll(() => belowBars(page, 102)).toBeCloseTo(8, -0.6);
    await page.goForward();
    await poll(tools).toBe(0);
    await page.getByRole("link", { name: "Everything", exact: true }).click();
    await poll(tools).toBeGreaterThan(0);
    expect(new URL(page.url()).searchParams.get("view")).toBe(null);
    expect(await page.evaluate("window.isSamePage")).toBe(true);
    await page.reload();
    await ready(page);
    expect(await tools()).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });

  test("that can't be loaded leaves the page as it is, and is retried", async () => {
    const { page: other } = await openIntercepted(page);
    await openReady(`/traces/${middle}?at=102`, other);
    await other.route(`**/traces/${middle}*`, (route) =>
      route.request().method() === "POST" ? route.abort() : route.fallback(),
    );
    await other.keyboard.press("v");
    await other.getByText("Could not load these messages").waitFor();
    await other.unrouteAll({ behavior: "wait" });
    await other.getByRole("button", { name: "Try again" }).click();
    await poll(() => other.locator("article[data-kind=shell]:not([data-failed])").count()).toBe(0);
    await poll(() => focused(other)).toBe(100);
    await other.context().close();
  });

  test("a link to a message that it leaves out shows all messages, and says so", async () => {
    await openReady(`/traces/${middle}?view=talk&at=3`);
    await page.getByText("is not part of the conversation").waitFor();
    await poll(() => focused(page)).toBe(3);
  });
});

test("a message's time links to it, its button copies it, and a copied link reads the same", async () => {
  await openReady(`/traces/${middle}`);
  const row = page.locator("#m4");
  await row.hover();
  await row.getByRole("button", { name: "Copy message 4" }).click();
  await poll(clipboard).toMatch(/^Answer 4\. /);
  await row.locator("a.when").click();
  await poll(() => focused(page)).toBe(4);
  expect(new URL(page.url()).searchParams.get("at")).toBe("4");
});

test("resume copies the agent's own command, and then offers the other ways", async () => {
  await openReady(`/traces/${middle}`);
  await page.getByRole("button", { name: "Resume" }).click();
  await poll(clipboard).toBe("claude --resume middle");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const said = page.getByRole("status");
  await said.getByText("claude --resume middle", { exact: true }).waitFor();
  await said.getByRole("button", { name: "As a new session" }).click();
  await poll(clipboard).toBe("spoor resume middle --clean");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Resume" }).waitFor();
});

test("new messages are announced while the page is open, and move nothing until they are asked for", async () => {
  await page.clock.install();
  await openReady(`/traces/${short}?at=80`);
  await poll(() => focused(page)).toBe(80);
  await page.locator("#m119").waitFor({ state: "attached" });
  const stood = await belowBars(page, 80);
  await addMessages(userId, short, { from: 120, to: 133 });
  const pill = page.getByRole("button", { name: "14 new messages ↓" });
  await page.clock.fastForward(10_000);
  await pill.waitFor();
  expect(await belowBars(page, 80)).toBeCloseTo(stood, -0.6);
  await pill.click();
  await poll(() => focused(page)).toBe(120);
  expect(faults).toEqual([]);
}, 60_000);

test("at the end of a session that grows the page follows it, keeps what is open, and says when the agent waits", async () => {
  const live = await storeSession(userId, { messages: 60, title: "Live", sourceId: crypto.randomUUID() });
  await pool().query("update trace set activity_at = now() where id = $1", [live]);
  await openReady(`/traces/${live}`);
  await page.getByText("In progress").waitFor();
  await page.keyboard.press("End");
  const fold = page.locator("#m57 details[data-fold]").first();
  await fold.locator("summary").first().click();
  await page.waitForLoadState("networkidle"); // what was opened has its height
  await page.keyboard.press("End");
  const left = () =>
    page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight - Math.ceil(window.scrollY));
  await poll(left).toBeLessThanOrEqual(0);
  await addMessages(userId, live, { from: 60, to: 62 });
  await pool().query(
    `update message set content = 'Shall I go on?', metadata = '{"stopReason":"end_turn"}' where trace_id = $1 and position = 62`,
    [live],
  );
  await page.clock.fastForward(10_000);
  await page.getByText("Shall I go on?").waitFor();
  await page.getByText("The agent has finished and is waiting for you").waitFor();
  await poll(left).toBeLessThanOrEqual(0);
  expect(await fold.getAttribute("open")).not.toBe(null);
  expect(await page.getByRole("button", { name: /\d new message/ }).count()).toBe(0);
  expect(faults).toEqual([]);
}, 60_000);

test("a session that fits on the screen shows what comes, at once", async () => {
  const content = "'Step ' || p || ' is done.'";
  const live = await storeSession(userId, { messages: 2, title: "Short", sourceId: crypto.randomUUID(), content });
  await openReady(`/traces/${live}`);
  await addMessages(userId, live, { from: 2, to: 2, content });
  await page.clock.fastForward(10_000);
  await page.getByText("Step 2 is done.").waitFor();
  expect(await page.getByRole("button", { name: /\d new message/ }).count()).toBe(0);
  await addMessages(userId, live, { from: 3, to: 3, content });
  await page.clock.fastForward(10_000);
  await page.getByText("Step 3 is done.").waitFor();
  expect(faults).toEqual([]);
});

test("the facts of a session that grows on the page grow with it", async () => {
  const content = "'Part ' || p || '.'";
  const live = await storeSession(userId, { messages: 2, title: "Growing", sourceId: crypto.randomUUID(), content });
  await openReady(`/traces/${live}`);
  await page.getByText("2 messages", { exact: true }).waitFor();
  await addMessages(userId, live, { from: 2, to: 50, content }); // the last one is the user's: another turn
  await pool().query("update trace set message_count = 51 where id = $1", [live]);
  await page.clock.fastForward(10_000);
  await page.getByText("51 messages", { exact: true }).waitFor();
  await page.locator("[data-where]", { hasText: "turn 2 of 2" }).waitFor();
  expect(faults).toEqual([]);
});

test("the times of messages are in the reader's zone from the first visit on", async () => {
  const context = await browser.newContext({ timezoneId: "Asia/Tokyo" });
  const first = await context.newPage();
  await signIn(first, server, owner);
  await context.clearCookies({ name: "spoor_tz" });
  await open(`/traces/${short}`, first);
  await first.locator("#m0 time", { hasText: "09:00" }).waitFor();
  await context.close();
});

test("one session is exported as Markdown and as the JSON that the API accepts", async () => {
  const markdown = await page.request.get(`${server.url}/api/traces/${middle}/export.md`);
  expect(markdown.headers()["content-disposition"]).toContain(`spoor-${middle}.md`);
  expect(await markdown.text()).toMatch(/^# Middle\n/);
  const json = await (await page.request.get(`${server.url}/api/traces/${middle}/export.json`)).json();
  expect(json).toMatchObject({ sourceId: "middle", title: "Middle" });
  expect(json.messages).toHaveLength(400);
  const missing = await page.request.get(`${server.url}/api/traces/${crypto.randomUUID()}/export.md`);
  expect(missing.status()).toBe(404);
});

/** Whether the mark of what was jumped to has faded. Runs in the page. */
const hasNoMark = () =>
  document.getAnimations().every((one) => !(one instanceof CSSAnimation) || one.animationName !== "flash");

test.each(widths)(
  "the page at %i px, with find and outline open, is accessible and fits",
  async (width) => {
    // Of each kind there is a message, in a long run more of them.
    const looked = await storeSession(userId, { messages: isLong ? 120 : 55, first: 50, sourceId: `looked-${width}` });
    const context = await browser.newContext({ viewport: { width, height: 780 } });
    const other = await context.newPage();
    await signIn(other, server, owner);
    const judge = (name: string) => expectGoodLook(other, `reader-${name}`);
    await open(`/traces/${looked}`, other);
    await ready(other);
    await judge("start");
    await open(`/traces/${looked}?at=100`, other);
    await ready(other);
    await poll(() => focused(other)).toBe(100);
    await poll(() => other.evaluate(hasNoMark)).toBe(true);
    await judge("at");
    await other.keyboard.press("f");
    await other.keyboard.type("module");
    await other.locator("output", { hasText: " of " }).waitFor();
    await poll(() => other.evaluate("CSS.highlights.get('find')?.size > 0")).toBe(true);
    await judge("find");
    await other.keyboard.press("Escape");
    await other.setViewportSize({ width: narrow, height: 780 });
    await other.getByRole("button", { name: /^Outline:/ }).click();
    await other.getByRole("dialog", { name: "Outline" }).waitFor();
    await judge("outline");
    await context.close();
  },
  180_000,
);
