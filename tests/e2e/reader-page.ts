import type { Page } from "playwright";
import { expect } from "vitest";

/** Waits for what a segment brings, which may take a second on a busy machine. */
export const poll = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 30_000 });

/** Waits until the page's script is at work and the outline, which comes last, is there. */
export async function ready(page: Page): Promise<void> {
  await page.locator("[data-live=true]").waitFor();
  // The outline marks the current turn once its script is there, from when keys can step through turns.
  await page.locator(".trail a[aria-current=true]").first().waitFor({ state: "attached" });
}

/** Where a message's row stands, in pixels below the bars that stick to the top. */
export const belowBars = (page: Page, position: number): Promise<number> =>
  page.evaluate((at) => {
    const bar = document.querySelector("[data-toolbar]")?.getBoundingClientRect().bottom ?? 0;
    return (document.getElementById(`m${at}`)?.getBoundingClientRect().top ?? Number.NaN) - bar;
  }, position);

/** The position of the row that has the focus. */
export const focused = (page: Page): Promise<number> =>
  page.evaluate(() => Number(document.activeElement?.getAttribute("data-position") ?? Number.NaN));

/** The first and last position on the page, and the number of segments. */
export const mounted = (page: Page): Promise<{ first: number; last: number; segments: number }> =>
  page.evaluate(() => {
    const all = [...document.querySelectorAll("article[data-position]")].map((one) =>
      Number(one.getAttribute("data-position")),
    );
    return {
      first: all[0] ?? -1,
      last: all.at(-1) ?? -1,
      segments: document.querySelectorAll("[data-messages] > section").length,
    };
  });

/** Waits until nothing has moved and the page has kept its height for so many frames. */
export const rest = (page: Page, frames = 20): Promise<void> =>
  page.evaluate(async (wanted) => {
    const look = () => `${window.scrollY} ${document.documentElement.scrollHeight}`;
    let before = look();
    for (let still = 0; still < wanted; still += 1) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = look();
      if (now !== before) still = 0;
      before = now;
    }
  }, frames);

/**
 * Follows, frame by frame, how far what is in view moves, and which tasks take long. A row is followed for as long as it is in
 * view, then another one.
 */
export const watchMotion = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const watched = { moved: 0, lost: 0, tasks: [] as number[] };
    Object.assign(window, { watched });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) watched.tasks.push(Math.round(duration));
    }).observe({ type: "longtask" });
    let row: Element | undefined;
    let top = 0;
    const pick = () => {
      row = [...document.querySelectorAll("article[data-position]")].find((one) => {
        const { top, bottom } = one.getBoundingClientRect();
        return bottom > innerHeight * 0.3 && top < innerHeight * 0.8 && bottom > top;
      });
      top = row?.getBoundingClientRect().top ?? 0;
    };
    const look = () => {
      if (row && !row.isConnected) watched.lost += 1;
      if (row?.isConnected) {
        const rect = row.getBoundingClientRect();
        watched.moved += rect.top - top;
        top = rect.top;
        if (rect.top > innerHeight * 0.8 || rect.bottom < innerHeight * 0.2) pick();
      } else pick();
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });

/** What was seen since `watchMotion`. */
export const motion = (page: Page): Promise<{ moved: number; lost: number; tasks: number[] }> =>
  page.evaluate(() => (window as unknown as { watched: { moved: number; lost: number; tasks: number[] } }).watched);

/**
 * Turns the wheel upwards for a while, a notch of `step` pixels every 40 ms, unless the page has no room above: there it waits
 * for the next segment. A slow machine continues until an earlier segment has arrived.
 *
 * @returns the pixels turned
 */
export async function wheelUp(page: Page, seconds: number, step: number): Promise<number> {
  const { width, height } = page.viewportSize() ?? { width: 800, height: 600 };
  await page.mouse.move(width * 0.6, height / 2);
  let turned = 0;
  const { first } = await mounted(page);
  const begun = Date.now();
  const elapsed = () => (Date.now() - begun) / 1000;
  while (elapsed() < seconds || (elapsed() < 60 && (await mounted(page)).first >= first)) {
    // Scrolling is smooth: some notches may still be on their way.
    const hasRoom = (await page.evaluate(() => window.scrollY)) > 8 * step;
    if (hasRoom) {
      await page.mouse.wheel(0, -step);
      turned += step;
    }
    await page.waitForTimeout(40);
  }
  await rest(page);
  return turned;
}
