// `npm run pictures [-- --out FOLDER] [-- home sessions …]`: every page, or those named, at both widths and in both themes.
import { mkdir } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { BrowserContextOptions } from "playwright";
import { launchBrowser } from "../support/browser.ts";
import { startWorld } from "./world.ts";

const { values, positionals } = parseArgs({
  options: { out: { type: "string", default: "pictures" }, full: { type: "boolean", default: false } },
  allowPositionals: true,
});
const sizes: Record<string, BrowserContextOptions> = {
  "1280": { viewport: { width: 1280, height: 800 } },
  "360": { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
};

await mkdir(values.out, { recursive: true });
const { spoor, cookies, pages } = await startWorld();
const browser = await launchBrowser();
try {
  for (const [size, options] of Object.entries(sizes)) {
    const context = await browser.newContext({ ...options, timezoneId: "Europe/Berlin", reducedMotion: "reduce" });
    const signedIn = cookies.split("; ").map((pair) => {
      const [name = "", value = ""] = pair.split("=", 2);
      return { name, value: pair.slice(name.length + 1) || value, url: spoor.url };
    });
    await context.addCookies([...signedIn, { name: "spoor_tz", value: "Europe%2FBerlin", url: spoor.url }]);
    const page = await context.newPage();
    for (const [name, path] of Object.entries(pages)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue;
      await page.goto(spoor.url + path, { waitUntil: "networkidle" });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: `${values.out}/${name}-${size}-${colorScheme}.png`, fullPage: values.full });
      }
      console.log(`${name} ${size}`);
    }
    await context.close();
  }
} finally {
  await browser.close();
  await spoor.stop();
}
process.exit(0);
