import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright";
import { expect } from "vitest";

/**
 * Holds a page, as it is now, to what every page promises: nothing wider than the window, and nothing that axe finds wrong.
 * With `SCREENSHOTS`, a folder, a picture of it is kept there, named with the window's width and the theme.
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
  // A message's headings begin at the third level, whatever stands before it in the window.
  const { violations } = await new AxeBuilder({ page }).disableRules("heading-order").analyze();
  expect(violations.map(({ id, nodes }) => `${name}: ${id} ${nodes[0]?.html}`)).toEqual([]);
}
