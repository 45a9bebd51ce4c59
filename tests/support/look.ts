import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright";
import { expect } from "vitest";
import { isLong } from "./long.ts";

/** The rules of axe that depend on colors; all others judge the dark theme as they judge the light one. */
const colorRules = ["color-contrast", "link-in-text-block"];

/**
 * Waits until nothing fades: half of a fade has a contrast of its own. One may begin a frame later, as where the pointer comes to
 * stand on something else. Runs in the page.
 */
const whatFades = async (): Promise<void> => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (;;) {
    await frame().then(frame);
    const fading = document
      .getAnimations()
      .filter((one) => one instanceof CSSTransition && one.playState === "running");
    if (fading.length === 0) return;
    await Promise.allSettled(fading.map(({ finished }) => finished));
  }
};

const source = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds in the current page, each with its first element. */
async function violations(page: Page, options: axe.RunOptions): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await source);
  return page.evaluate(async (given) => {
    const found = await (window as unknown as { axe: typeof axe }).axe.run(document, given);
    return found.violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`);
  }, options);
}

const themes = isLong ? (["dark", "light"] as const) : (["light"] as const);

const wide = 1280;
export const narrow = 360;
/** The widths of windows, in pixels, in which a page is opened to be looked at. */
export const widths = isLong ? [wide, narrow] : [wide];

/** By how much the current page is wider than its window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/**
 * Checks the current page: nothing is wider than the window, and axe finds no violation. A long run asks axe in both themes and all
 * windows; else a wide one is made narrow for a moment, where axe's rules would judge the same elements. Where `SCREENSHOTS` names a
 * folder, it stores screenshots there, named with the window's width and the theme.
 */
export async function expectGoodLook(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  // A click may just have begun a navigation: between two documents there is no element to measure.
  await page.waitForFunction(() => document.readyState === "complete" && document.documentElement !== null);
  const width = await page.evaluate(() => innerWidth);
  expect(await overflow(page), `${name} is too wide`).toBeLessThanOrEqual(0);
  if (width <= narrow && !isLong) return;
  for (const theme of themes) {
    // Else the pointer could come to stand on something that moves, and begin a fade while axe measures.
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.evaluate(whatFades);
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${width}-${theme}.png`, fullPage });
    const rules = theme === "dark" ? { runOnly: colorRules } : { rules: { "target-size": { enabled: true } } };
    expect(await violations(page, { ...rules, resultTypes: ["violations"] }), `${name}, ${theme}`).toEqual([]);
  }
  if (!isLong) {
    const size = page.viewportSize() ?? { width, height: 800 };
    await page.setViewportSize({ width: narrow, height: size.height });
    // A script may have to draw a chart anew.
    await expect.poll(() => overflow(page), { message: `${name} is too wide at ${narrow} px` }).toBeLessThanOrEqual(0);
    await page.setViewportSize(size);
  }
  await page.emulateMedia({ reducedMotion: null });
}
