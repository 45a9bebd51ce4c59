import { describe, expect, test } from "vitest";
import { openIntercepted, signIn } from "../support/browser.ts";
import { isLong } from "../support/long.ts";
import { storeSession, wordsSql } from "../support/long-session.ts";
import { owner } from "../support/server.ts";
import { belowBars, focused, motion, mounted, poll, ready, rest, watchMotion, wheelUp } from "./reader-page.ts";
import { provideSignedIn } from "./signed-in.ts";

const { server, userId, browser, page, faults, open } = await provideSignedIn();
const intercepted = await openIntercepted(page);

/** More than a page ever has mounted of it, and no more: each opening reads all of it for the outline. */
const size = isLong ? 50_000 : 2000;
const [middle, turns] = [size / 2, size / 50];
const long = await storeSession(userId, { messages: size });

const inWords = (count: number) => count.toLocaleString("en-US");
const firstTurn = `turn 1 of ${inWords(turns)} · 1 Jan, 00:00`;
const lastTurn = `turn ${inWords(turns)} of ${inWords(turns)} · ${isLong ? "4 Feb, 17:19" : "2 Jan, 09:19"}`;
/** The positions of the two questions that say the number of the first. */
const [near, far] = isLong ? [3100, 31_000] : [150, 1500];

/** With a minute, on an otherwise idle machine, the longest task is also held to 100 ms. */
const seconds = Number(process.env.READER_SECONDS ?? (isLong ? 8 : 2));

const where = () => page.locator("[data-where]").textContent();
/** Whether the middle of the page shows no message. */
const isBlank = (on = page) => on.evaluate("document.elementFromPoint(700, 400)?.closest('[data-messages]') === null");

async function openReady(path: string, on = page): Promise<void> {
  await open(path, on);
  await ready(on);
}

describe(`a session of ${inWords(size)} messages`, () => {
  test("opens at its start and says the turn and the time", async () => {
    await openReady(`/traces/${long}`);
    expect(await mounted(page)).toMatchObject({ first: 0 });
    await poll(() => where()).toBe(firstTurn);
    expect(await page.title()).toMatch(/^A long session/);
    expect(await page.locator(".trail a").count()).toBe(turns);
    expect(faults).toEqual([]);
  });

  test("a link to a message lands on it exactly, gives it the focus, and marks its turn in the outline", async () => {
    for (const path of [`?at=${middle + 1}`, `#m${middle + 1}`]) {
      if (path.startsWith("#")) await open("/traces");
      await openReady(`/traces/${long}${path}`);
      await poll(() => focused(page)).toBe(middle + 1);
      await poll(() => belowBars(page, middle + 1)).toBeCloseTo(8, -0.6);
      await poll(() => page.locator(".trail [aria-current]").textContent()).toContain(`Question ${middle}`);
    }
    expect(faults).toEqual([]);
  });

  test("End and Home land at once at the true ends, and going back restores the place between", async () => {
    await openReady(`/traces/${long}?at=${middle + 1}`);
    await poll(() => focused(page)).toBe(middle + 1);
    await page.keyboard.press("End");
    await poll(() => where()).toBe(lastTurn);
    expect(await mounted(page)).toMatchObject({ last: size - 1 });
    const left = () =>
      page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight - Math.ceil(window.scrollY));
    expect(await left()).toBeLessThanOrEqual(0);
    expect(await isBlank()).toBe(false);
    await page.keyboard.press("Home");
    await poll(() => where()).toBe(firstTurn);
    expect(await page.evaluate("window.scrollY")).toBe(0);
    expect(await isBlank()).toBe(false);
    await page.goBack();
    await poll(async () => (await mounted(page)).last).toBe(size - 1);
    await page.goBack();
    await poll(() => belowBars(page, middle + 1)).toBeCloseTo(8, -0.6);
    expect(faults).toEqual([]);
  });

  test("opening and closing all folds keeps the message under the eye", async () => {
    const at = middle + 93;
    await openReady(`/traces/${long}?at=${at}`);
    await poll(() => focused(page)).toBe(at);
    await poll(() => belowBars(page, at)).toBeCloseTo(8, -0.6);
    const before = await belowBars(page, at);
    for (const said of ["All folds are open", "All folds are closed"]) {
      await page.keyboard.press("O");
      await page.getByText(said).waitFor({ state: "attached" });
      await poll(() => belowBars(page, at)).toBeCloseTo(before, -0.6);
      await rest(page); // what was measured anew
      expect(Math.abs((await belowBars(page, at)) - before)).toBeLessThanOrEqual(2);
    }
    expect(faults).toEqual([]);
  });

  test("the rail shows the whole session, and leads through it by pointer and by keys", async () => {
    await openReady(`/traces/${long}`);
    const rail = page.getByRole("slider", { name: "Place in the session" });
    expect(await rail.getAttribute("aria-valuemax")).toBe(String(size - 1));
    const box = await rail.boundingBox();
    if (!box) throw new Error("the rail is not shown");
    // One path whatever the number of marks; in a long run a turn each 0.75 pixels, so that nearly each pixel has one.
    const marks = isLong ? /^(M\d+ [\d.]+h5){400,800}$/ : /^(M\d+ [\d.]+h5){40}$/;
    await poll(() => rail.locator("path.stroke-accent").getAttribute("d")).toMatch(marks);
    await page.mouse.move(box.x + 5, box.y + 5);
    await page.mouse.down();
    await page.mouse.move(box.x + 5, box.y + box.height / 2, { steps: 6 });
    await page
      .locator(".rail-words")
      .getByText(isLong ? /^turn 50\d of 1,000/ : /^turn 2[01] of 40/)
      .waitFor();
    await page.mouse.up();
    await poll(() => where()).toMatch(isLong ? /^turn 50\d of 1,000 · 18 Jan/ : /^turn 2[01] of 40 · 1 Jan/);
    expect(Number(new URL(page.url()).searchParams.get("at"))).toBeGreaterThan(middle * 0.98);
    await rail.press("ArrowDown");
    const next = Number(/turn (\d+)/.exec((await rail.getAttribute("aria-valuetext")) ?? "")?.[1]);
    await poll(() => rail.getAttribute("aria-valuenow").then((now) => Number(now) % 50)).toBe(0);
    expect(next).toBeGreaterThan(turns / 2 - 1);
    await rail.press("PageUp");
    await poll(() => rail.getAttribute("aria-valuenow").then(Number)).toBeLessThan(middle - size / 10 + 100);
    await rail.press("End");
    await poll(() => rail.getAttribute("aria-valuetext")).toContain(`turn ${inWords(turns)} of ${inWords(turns)}`);
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("slider");
    const thumb = await rail.locator(".rail-thumb").boundingBox();
    expect((thumb?.y ?? 0) + (thumb?.height ?? 0)).toBeGreaterThan(box.y + box.height - 10);
    expect(faults).toEqual([]);
  });

  test("scrolling upwards moves the page by exactly what the wheel turned", async () => {
    await openReady(`/traces/${long}?at=${middle}`);
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

  test("keeps what was scrolled through, in bounded memory", async () => {
    const words = isLong ? long : await storeSession(userId, { messages: 5000, sourceId: "words", content: wordsSql });
    await openReady(`/traces/${words}?at=${isLong ? middle : 2500}`);
    const start = await mounted(page);
    while ((await mounted(page)).segments < 15) {
      await page.evaluate("window.scrollBy(0, -document.documentElement.scrollHeight)");
      const { first } = await mounted(page);
      await poll(async () => (await mounted(page)).first).toBeLessThan(first);
    }
    expect((await mounted(page)).last).toBeGreaterThanOrEqual(start.last);
    expect(await page.evaluate("performance.memory.usedJSHeapSize / 1e6")).toBeLessThan(200);
    expect(faults).toEqual([]);
  }, 120_000);

  test("find counts in the whole session, jumps, and steps with n and N", async () => {
    await openReady(`/traces/${long}`);
    await page.keyboard.press("f");
    await page.keyboard.type(`Question ${near}`);
    const output = page.locator("output");
    await poll(() => output.textContent()).toBe("1 of 2 in 2 messages");
    await page.locator(`#m${near}`).waitFor();
    await poll(() => page.evaluate("CSS.highlights.get('find')?.size ?? 0")).toBeGreaterThan(0);
    await page.keyboard.press("Enter");
    await page.locator(`#m${far}`).waitFor();
    await poll(() => output.textContent()).toBe("2 of 2 in 2 messages");
    await page.locator(`#m${far}`).click({ position: { x: 5, y: 5 } });
    await page.keyboard.press("N");
    await page.locator(`#m${near}`).waitFor();
    await page.keyboard.press("Escape");
    await output.waitFor({ state: "detached" });
    expect(await page.evaluate("CSS.highlights.has('find')")).toBe(false);
    await page.keyboard.press("n"); // once more what was looked for, without the field
    await poll(() => output.textContent()).toBe("1 of 2 in 2 messages");
    await page.keyboard.press("n");
    await page.locator(`#m${far}`).waitFor();
    await poll(() => output.textContent()).toBe("2 of 2 in 2 messages");
    await page.keyboard.press("f");
    expect(await page.locator("#find").evaluate((field) => field === document.activeElement)).toBe(true);
    expect(faults).toEqual([]);
  });

  test("Ctrl+F finds in the whole session, and pressed again is the browser's", async () => {
    await openReady(`/traces/${long}`);
    await page.keyboard.press("Control+f");
    await page.getByLabel("Find", { exact: true }).and(page.locator("input")).waitFor();
    await page.evaluate(`document.addEventListener("keydown", (event) => { window.left = !event.defaultPrevented; })`);
    await page.keyboard.press("Control+f");
    expect(await page.evaluate("window.left")).toBe(true);
  });

  test("a query in the address is found at once", async () => {
    await openReady(`/traces/${long}?q=question%20${far}`);
    await page.locator(`#m${far}`).waitFor();
    await poll(() => page.locator("output").textContent()).toBe("1 of 1 in 1 message");
  });

  test("a segment that cannot be loaded leaves a button to try again", async () => {
    const { page } = intercepted;
    await openReady(`/traces/${long}?at=${size * 0.8}`, page);
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
  });

  test("a jump that fails leaves the reader in place, with a button to try again", async () => {
    const { page } = intercepted;
    await openReady(`/traces/${long}?at=${size * 0.82}`, page);
    await poll(() => focused(page)).toBe(size * 0.82);
    await page.route(`**/traces/${long}*`, (route) =>
      route.request().method() === "POST" ? route.abort() : route.fallback(),
    );
    await page.keyboard.press("End");
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    expect(await isBlank(page)).toBe(false);
    await page.unroute(`**/traces/${long}*`);
    await again.click();
    await poll(async () => (await mounted(page)).last).toBe(size - 1);
    await again.waitFor({ state: "detached" });
  });

  test("a jump to what is on the page takes the place of one that is on its way", async () => {
    const { page, faults } = intercepted;
    faults.length = 0; // the browser logged what was aborted
    await openReady(`/traces/${long}`, page);
    await poll(async () => (await mounted(page)).last).toBeGreaterThan(60);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let arrived = 0;
    await page.route(`**/traces/${long}*`, async (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      arrived += 1;
      await held;
      await route.continue();
    });
    await page.keyboard.press("End");
    await poll(async () => arrived).toBeGreaterThan(0);
    await page.keyboard.press("Home");
    release();
    await page.unrouteAll({ behavior: "wait" });
    await page.waitForTimeout(1500); // what was held has come
    expect(await mounted(page)).toMatchObject({ first: 0 });
    expect(await page.evaluate("window.scrollY")).toBe(0);
    expect(faults).toEqual([]);
  });
});

test("a message of 5 MB opens in parts and does not freeze the page", async () => {
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

test("without script there are links to earlier and later messages, and anchors", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const plain = await context.newPage();
  await signIn(plain, server, owner);
  await open(`/traces/${long}?at=${middle}#m${middle}`, plain);
  expect(await plain.locator(`#m${middle}`).isVisible()).toBe(true);
  await plain.getByRole("link", { name: "Earlier", exact: true }).click();
  expect(Number(new URL(plain.url()).searchParams.get("before"))).toBeLessThan(middle);
  await plain.getByRole("link", { name: "Later", exact: true }).click();
  expect(new URL(plain.url()).searchParams.get("after")).toMatch(/^\d+$/);
  await plain.locator("article[data-position]").nth(20).waitFor();
  await plain.getByRole("link", { name: "Conversation", exact: true }).click();
  expect(new URL(plain.url()).searchParams.get("view")).toBe("talk");
  await context.close();
});
