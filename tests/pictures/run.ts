// `npm run pictures [-- --out FOLDER] [--full] [--sessions FILE] [home sessions …]`: every page, or those named, at both widths and
// in both themes. `npm run pictures -- --docs`: the few that are in docs/, made of the invented sessions.
import { mkdir, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { Browser, BrowserContextOptions, Page } from "playwright";
import { launchBrowser } from "../support/browser.ts";
import { getCookies } from "./cookies.ts";
import { startWorld, type World } from "./world.ts";

const { values, positionals } = parseArgs({
  options: {
    out: { type: "string", default: "pictures" },
    full: { type: "boolean", default: false },
    docs: { type: "boolean", default: false },
    sessions: { type: "string" },
  },
  allowPositionals: true,
});
const sizes: Record<string, BrowserContextOptions> = {
  "1280": { viewport: { width: 1280, height: 800 } },
  "360": { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
};
/** The pictures of docs/, and the pages that they are of. */
const shownInDocs = { list: "sessions", reader: "session", changes: "changes", home: "home", findings: "findings" };

const world = await startWorld(values.sessions);
const browser = await launchBrowser();
try {
  await (values.docs ? takeForDocs(browser, world) : takeAll(browser, world));
} finally {
  await browser.close();
  await world.spoor.stop();
}
process.exit(0);

async function takeAll(on: Browser, { spoor, cookies, pages, strangerPages }: World): Promise<void> {
  await mkdir(values.out, { recursive: true });
  for (const [size, options] of Object.entries(sizes)) {
    for (const [paths, signedIn] of [[strangerPages, ""] as const, [pages, cookies] as const]) {
      const context = await on.newContext({ ...options, timezoneId: "Europe/Berlin", reducedMotion: "reduce" });
      await context.addCookies(getCookies(signedIn, spoor.url));
      const page = await context.newPage();
      for (const [name, path] of Object.entries(paths)) {
        if (positionals.length > 0 && !positionals.includes(name)) continue;
        await open(page, spoor.url + path);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await page.screenshot({ path: `${values.out}/${name}-${size}-${colorScheme}.png`, fullPage: values.full });
        }
        console.log(`${name} ${size}`);
      }
      await context.close();
    }
  }
}

/** Sharp and small: WebP at one and a half times the size, which Playwright itself does not write. */
async function takeForDocs(on: Browser, { spoor, cookies, pages }: World): Promise<void> {
  const options = { viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1.5, colorScheme: "light" } as const;
  const context = await on.newContext({ ...options, timezoneId: "Europe/Berlin", reducedMotion: "reduce" });
  await context.addCookies(getCookies(cookies, spoor.url));
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  for (const [name, of] of Object.entries(shownInDocs)) {
    await open(page, spoor.url + pages[of]);
    const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 82 });
    await writeFile(`docs/${name}.webp`, data, "base64");
    console.log(`docs/${name}.webp ${Math.round((data.length * 0.75) / 1000)} KB`);
  }
}

/** Opens a page and waits until it rests; one that goes on asking its server is taken as it is after some seconds. */
async function open(page: Page, url: string): Promise<void> {
  await page.goto(url, { waitUntil: "load" });
  await page.waitForLoadState("networkidle", { timeout: 5000 }).catch(() => {});
}
