import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { signIn } from "../support/browser.ts";
import { addMessages, storeSession } from "../support/long-session.ts";
import { expectGoodLook } from "../support/look.ts";
import { owner } from "../support/server.ts";
import { belowBars, focused, motion, mounted, poll, ready, watchMotion, wheelUp } from "./reader-page.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, browser, page, faults, open } = await provideSignedIn();
await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);

const { rows } = await pool().query<{ id: string }>(`select id from "user"`);
const userId = rows[0]?.id ?? "";
const long = await storeSession(userId, { messages: 50_000 });
const middle = await storeSession(userId, { messages: 400, title: "Middle", sourceId: "middle" });
const short = await storeSession(userId, { messages: 120, title: "Short", sourceId: "short" });

/** With a minute, on a machine with nothing else to do, the longest task is held to 100 ms as well. */
const seconds = Number(process.env.READER_SECONDS ?? 8);

const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
async function openReady(path: string): Promise<void> {
  await open(path);
  await ready(page);
}

describe("a session of 50,000 messages", () => {
  test("opens at its start and says how much of it is loaded", async () => {
    await openReady(`/traces/${long}`);
    expect(await mounted(page)).toMatchObject({ first: 0 });
    await page
      .getByText(/^1–\d+ of 50,000$/)
      .first()
      .waitFor();
    expect(await page.title()).toMatch(/^A long session/);
    expect(await page.locator(".trail a").count()).toBe(1000);
    expect(faults).toEqual([]);
  });

  test("a link to a message lands on it exactly, gives it the focus, and marks its turn in the outline", async () => {
    for (const path of [`?at=25001`, `#m25001`]) {
      if (path.startsWith("#")) await open("/traces");
      await openReady(`/traces/${long}${path}`);
      await poll(() => focused(page)).toBe(25001);
      await poll(() => belowBars(page, 25001)).toBeCloseTo(8, -0.6);
      await poll(() => page.locator(".trail [aria-current]").textContent()).toContain("Question 25000");
    }
    expect(faults).toEqual([]);
  });

  test("wheeling upwards moves the page by what was wheeled and by nothing else", async () => {
    await openReady(`/traces/${long}?at=25000`);
    const before = await mounted(page);
    await watchMotion(page);
    const wheeled = await wheelUp(page, seconds, 120);
    const { moved, lost, tasks } = await motion(page);
    expect(lost).toBe(0);
    expect(Math.abs(moved - wheeled)).toBeLessThanOrEqual(2);
    const after = await mounted(page);
    expect(after.first).toBeLessThan(before.first);
    expect(await page.evaluate("performance.memory.usedJSHeapSize / 1e6")).toBeLessThan(200);
    if (seconds >= 60) expect(Math.max(0, ...tasks)).toBeLessThanOrEqual(100);
    expect(faults).toEqual([]);
  }, 120_000);

  test("has at most twelve windows mounted, and those that were emptied come back where they stood", async () => {
    await openReady(`/traces/${long}?at=25000`);
    for (let turn = 0; turn < 16; turn += 1) {
      await page.evaluate("window.scrollBy(0, -document.documentElement.scrollHeight)");
      const { first } = await mounted(page);
      await poll(async () => (await mounted(page)).first).toBeLessThan(first);
    }
    await poll(async () => (await mounted(page)).segments).toBeLessThanOrEqual(12);
    expect((await mounted(page)).empty).toBeGreaterThan(0);
    await page.evaluate("window.scrollTo(0, document.querySelector('[data-empty]').offsetTop + 200)");
    await poll(() => page.evaluate("document.elementFromPoint(700, 400)?.closest('article') !== null")).toBe(true);
    expect(faults).toEqual([]);
  }, 60_000);

  test("find counts in the whole of it, jumps, and goes on with n and N", async () => {
    await openReady(`/traces/${long}`);
    await page.keyboard.press("f");
    await page.keyboard.type("Question 3100");
    const output = page.locator("output");
    await poll(() => output.textContent()).toBe("1 of 2 in 2 messages");
    await page.locator("#m3100").waitFor();
    await poll(() => page.evaluate("CSS.highlights.get('find')?.size ?? 0")).toBeGreaterThan(0);
    await page.keyboard.press("Enter");
    await page.locator("#m31000").waitFor();
    await poll(() => output.textContent()).toBe("2 of 2 in 2 messages");
    await page.locator("#m31000").click({ position: { x: 5, y: 5 } });
    await page.keyboard.press("N");
    await page.locator("#m3100").waitFor();
    await page.keyboard.press("Escape");
    await output.waitFor({ state: "detached" });
    expect(await page.evaluate("CSS.highlights.has('find')")).toBe(false);
    expect(faults).toEqual([]);
  });

  test("Ctrl+F finds in all of it, and pressed again is the browser's", async () => {
    await openReady(`/traces/${long}`);
    await page.keyboard.press("Control+f");
    await page.getByLabel("Find", { exact: true }).and(page.locator("input")).waitFor();
    await page.evaluate(`document.addEventListener("keydown", (event) => { window.left = !event.defaultPrevented; })`);
    await page.keyboard.press("Control+f");
    expect(await page.evaluate("window.left")).toBe(true);
  });

  test("a word to be found in the address is found at once", async () => {
    await openReady(`/traces/${long}?q=question%2031000`);
    await page.locator("#m31000").waitFor();
    await poll(() => page.locator("output").textContent()).toBe("1 of 1 in 1 message");
  });

  test("a window that cannot be loaded leaves a row to try again", async () => {
    await openReady(`/traces/${long}?at=40000`);
    await page.route(`**/traces/${long}*`, (route) =>
      route.request().method() === "POST" ? route.abort() : route.fallback(),
    );
    await page.evaluate("window.scrollTo(0, 0)");
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    await page.unroute(`**/traces/${long}*`);
    const { first } = await mounted(page);
    await again.click();
    await poll(async () => (await mounted(page)).first).toBeLessThan(first);
    faults.length = 0; // the browser logs what was aborted
  });
});

describe("keys", () => {
  test("step through messages and turns, and go back", async () => {
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
    await poll(() => belowBars(page, 50)).toBeLessThan(40); // a step goes on from what is in sight
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

  test("lead to the neighbours in the filtered list and back to it", async () => {
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

  test("do nothing while somebody types, nor where they are switched off", async () => {
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

describe("the talk alone", () => {
  test("leaves tools out, and keeps the place when it is switched", async () => {
    await openReady(`/traces/${middle}?at=102`); // a command
    await poll(() => focused(page)).toBe(102);
    await page.keyboard.press("v");
    await page.waitForURL(/view=talk/);
    await ready(page);
    await page.locator("#m100").waitFor();
    expect(await page.locator("article[data-kind=shell]:not([data-failed])").count()).toBe(0);
    expect(await page.locator("article[data-kind=user]").count()).toBeGreaterThan(2);
  });

  test("a link to what it leaves out shows all, and says so", async () => {
    await openReady(`/traces/${middle}?view=talk&at=3`);
    await page.getByText("is not part of the talk").waitFor();
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

test("resume copies the agent's own command", async () => {
  await openReady(`/traces/${middle}`);
  await page.getByRole("button", { name: "Resume" }).click();
  await poll(clipboard).toBe("claude --resume middle");
});

test("what comes while the page is open is told, and moves nothing until it is asked for", async () => {
  await openReady(`/traces/${short}?at=119`);
  await poll(() => focused(page)).toBe(119);
  const stood = await belowBars(page, 119);
  await addMessages(userId, short, { from: 120, to: 133 });
  const pill = page.getByRole("button", { name: "14 new messages ↓" });
  await pill.waitFor({ timeout: 30_000 });
  expect(await belowBars(page, 119)).toBeCloseTo(stood, -0.6);
  await pill.click();
  await poll(() => focused(page)).toBe(120);
  expect(faults).toEqual([]);
}, 60_000);

test("a message of 5 MB is opened in parts and does not freeze the page", async () => {
  const content = `case p when 1 then '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>' || chr(10)
    || '<summary>Tool use: **Bash**</summary>' || chr(10) || '\`cat log\`' || chr(10) || chr(10) || '\`\`\`text' || chr(10)
    || repeat('a line of a long log' || chr(10), 250000) || '\`\`\`' || chr(10) || '</details></tool-use>'
    when 2 then repeat('x', 5000000) else 'Small ' || p end`;
  const big = await storeSession(userId, { messages: 6, sourceId: "big", content });
  await openReady(`/traces/${big}`);
  await page.locator("#m1").waitFor();
  await watchMotion(page);
  await page.locator("#m1 details summary").first().click();
  await page.locator("#m1 [data-body]").getByText("a line of a long log").first().waitFor();
  await page.waitForTimeout(500);
  expect(Math.max(0, ...(await motion(page)).tasks)).toBeLessThan(2000);
  expect(faults).toEqual([]);
}, 60_000);

test("without script there are links to earlier and later messages, and an anchor", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await signIn(plain, server, owner);
  await open(`/traces/${long}?at=25000#m25000`, plain);
  expect(await plain.locator("#m25000").isVisible()).toBe(true);
  await plain.getByRole("link", { name: "Earlier", exact: true }).click();
  expect(Number(new URL(plain.url()).searchParams.get("before"))).toBeLessThan(25000);
  await plain.getByRole("link", { name: "Later", exact: true }).click();
  expect(new URL(plain.url()).searchParams.get("after")).toMatch(/^\d+$/);
  await plain.locator("article[data-position]").nth(20).waitFor();
  await plain.getByRole("link", { name: "Talk", exact: true }).click();
  expect(new URL(plain.url()).searchParams.get("view")).toBe("talk");
  await context.close();
});

test("one session is exported as Markdown and as the JSON that the API takes back", async () => {
  const markdown = await page.request.get(`${server.url}/api/traces/${middle}/export.md`);
  expect(markdown.headers()["content-disposition"]).toContain(`spoor-${middle}.md`);
  expect(await markdown.text()).toMatch(/^# Middle\n/);
  const json = await (await page.request.get(`${server.url}/api/traces/${middle}/export.json`)).json();
  expect(json).toMatchObject({ sourceId: "middle", title: "Middle" });
  expect(json.messages).toHaveLength(400);
  const missing = await page.request.get(`${server.url}/api/traces/${crypto.randomUUID()}/export.md`);
  expect(missing.status()).toBe(404);
});

describe.each(["light", "dark"] as const)("in the %s theme", (colorScheme) => {
  test.each([
    [1280, 800],
    [360, 740],
  ])(
    "the page at %i px, with find and outline open, is accessible and fits",
    async (width, height) => {
      const context = await browser.newContext({ colorScheme, viewport: { width, height } });
      const other = await context.newPage();
      await signIn(other, server, owner);
      const judge = (name: string) => expectGoodLook(other, `reader-${name}`);
      await open(`/traces/${short}`, other);
      await ready(other);
      await judge("start");
      await open(`/traces/${short}?at=50`, other);
      await ready(other);
      await other.waitForTimeout(2000); // the mark of what was jumped to has faded
      await judge("at");
      await other.keyboard.press("f");
      await other.keyboard.type("module");
      await other.locator("output", { hasText: " of " }).waitFor();
      await other.waitForTimeout(300);
      await judge("find");
      await other.keyboard.press("Escape");
      if (width < 1024) {
        await other.getByRole("button", { name: /turns/ }).click();
        await other.getByRole("dialog", { name: "Outline" }).waitFor();
        await judge("outline");
      }
      await context.close();
    },
    180_000,
  );
});
