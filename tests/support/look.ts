import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright";
import { expect } from "vitest";

/**
 * Checks the current page: nothing is wider than the window, and axe finds no violation. Where `SCREENSHOTS` names a folder,
 * it stores a screenshot there, named with the window's width and the theme.
 */
export async function expectGoodLook(page: Page, name: string, { fullPage = false } = {}): Promise<void> {
  const { overflow, width, theme } = await page.evaluate(() => ({
    overflow: document.documentElement.scrollWidth - innerWidth,
    width: innerWidth,
    theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
  }));
  if (process.env.SCREENSHOTS)
    await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${width}-${theme}.png`, fullPage });
  expect(overflow, `${name} is too wide`).toBeLessThanOrEqual(0);
  // A message's headings begin at the third level, whatever precedes it in the window.
  const { violations } = await new AxeBuilder({ page }).disableRules("heading-order").analyze();
  expect(violations.map(({ id, nodes }) => `${name}: ${id} ${nodes[0]?.html}`)).toEqual([]);
}
