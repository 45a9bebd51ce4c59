import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright";
import { expect } from "vitest";
import { isLong } from "./long.ts";

/** axe's rules that depend on colors; all others give the same result in both themes. */
const colorRules = ["color-contrast", "link-in-text-block"];

/**
 * Waits for the end of all fades, during which contrasts differ. A fade may begin a frame later, when the pointer is
 * above another element. Runs in the page.
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

/** Lists axe's violations in the current page, each with its first element. */
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
/** Widths of windows, in pixels. */
export const widths = isLong ? [wide, narrow] : [wide];

/** Measures how much wider the current page is than its window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/**
 * Checks the current page: nothing is wider than the window, and axe finds no violation. A long run checks both themes
 * and all widths; a short one runs axe in the wide window only. If `SCREENSHOTS` names a folder, screenshots are stored
 * there, named by width and theme.
 */
export async function expectGoodLook(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  // After a click, a navigation may be in progress, and the new document may have no elements yet.
  await page.waitForFunction(() => document.readyState === "complete" && document.documentElement !== null);
  const width = await page.evaluate(() => innerWidth);
  expect(await overflow(page), `${name} is too wide`).toBeLessThanOrEqual(0);
  if (width <= narrow && !isLong) return;
  for (const theme of themes) {
    // Otherwise an element could move below the pointer and begin a fade while axe measures.
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
    // A script may redraw a chart.
    await expect.poll(() => overflow(page), { message: `${name} is too wide at ${narrow} px` }).toBeLessThanOrEqual(0);
    await page.setViewportSize(size);
  }
  await page.emulateMedia({ reducedMotion: null });
}
