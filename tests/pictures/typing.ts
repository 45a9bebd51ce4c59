import type { Browser, BrowserContext, Page } from "playwright";
import { getCookies } from "./cookies.ts";
import type { World } from "./world.ts";

/** So many times slower than this machine is the processor while one types. */
const slowdown = 4;

type Typing = { field: string; words: string; open: (page: Page) => Promise<void> };

/** Where one types to find a session: the search, a filter's field, and the palette. */
const typings: Typing[] = [
  { field: "the search", words: "timer test fails", open: (page) => page.locator("#search").click() },
  {
    field: "a filter",
    words: "tidepool-api",
    open: async (page) => {
      const menu = page.locator("details[name=filter]", { has: page.locator("input[name=project]") });
      await menu.locator("summary").click();
      await menu.locator("input[name=project]").last().click();
    },
  },
  {
    field: "the palette",
    words: "calendar feed",
    open: async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByLabel("Go to a page, project or session").waitFor();
    },
  },
];

/**
 * Types in the list's fields with a slow processor.
 *
 * @returns for each field the worst time from a key to the next paint (INP, of fewer than fifty keys the longest), in ms
 */
export async function measureTyping(browser: Browser, { spoor, cookies }: World): Promise<Record<string, number>> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addCookies(getCookies(cookies, spoor.url));
  const worst: Record<string, number> = {};
  for (const typing of typings) worst[typing.field] = await type(context, `${spoor.url}/traces`, typing);
  await context.close();
  return worst;
}

async function type(context: BrowserContext, url: string, { words, open }: Typing): Promise<number> {
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "networkidle" });
  await open(page);
  await page.evaluate(observe);
  const devtools = await context.newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  await page.keyboard.type(words, { delay: 120 });
  // What the typing has set off, such as new results, delays the last keys, too.
  await page.waitForLoadState("networkidle");
  await page.keyboard.press("End");
  const keys = await page.evaluate(() => (window as Observed).keyTimes ?? []);
  await page.close();
  if (keys.length === 0) throw new Error("The browser timed no key.");
  return Math.max(...keys);
}

type Observed = Window & typeof globalThis & { keyTimes?: number[] };

/** Runs in the page. */
function observe() {
  const times: number[] = [];
  (window as Observed).keyTimes = times;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as PerformanceEventTiming[])
      if (entry.interactionId) times.push(Math.round(entry.duration));
  });
  observer.observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
}
