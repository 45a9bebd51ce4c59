// `npm run lighthouse [-- --sessions FILE]`: Lighthouse's scores of the list, the reader and usage, on a phone and a desktop (below
// 95 it fails), and how soon a key shows while one types with a slow processor (above 100 ms it fails).
// Lighthouse is no dependency: npx fetches this version where it is run.
import { execFile } from "node:child_process";
import { parseArgs, promisify } from "node:util";
import { freePort } from "#lib/db/embedded/ports";
import { launchBrowser } from "../support/browser.ts";
import { getCookies } from "./cookies.ts";
import { measureTyping } from "./typing.ts";
import { startWorld } from "./world.ts";

const version = "lighthouse@13.5.0";
const categories = ["performance", "accessibility", "best-practices"];
const shown = ["home", "sessions", "session", "usage"];
const must = { score: 95, keyMs: 100 };

type Result = {
  finalDisplayedUrl: string;
  categories: Record<string, { score: number | null } | undefined>;
  audits: Record<string, { id: string; title: string; score: number | null; displayValue?: string }>;
};

const { values } = parseArgs({ options: { sessions: { type: "string" } } });
const run = promisify(execFile);
const world = await startWorld(values.sessions);
const port = await freePort();
const browser = await launchBrowser([`--remote-debugging-port=${port}`]);
let isGood = true;
// Lighthouse opens its pages in the browser's own context; a header of cookies would give way to those that a page sets.
const devtools = await browser.newBrowserCDPSession();
await devtools.send("Storage.setCookies", { cookies: getCookies(world.cookies, world.spoor.url) });
try {
  for (const [field, worstMs] of Object.entries(await measureTyping(browser, world))) {
    isGood &&= worstMs <= must.keyMs;
    console.log(`typing in ${field}: a key shows after ${worstMs} ms at most`);
  }
  for (const size of ["desktop", "mobile"]) for (const name of shown) await score(size, name);
} finally {
  await browser.close();
  await world.spoor.stop();
}
process.exit(isGood ? 0 : 1);

async function score(size: string, name: string): Promise<void> {
  const words = [
    ...["--yes", version, world.spoor.url + world.pages[name], `--port=${port}`, "--quiet", "--output=json"],
    ...[`--only-categories=${categories.join(",")}`, "--output-path=stdout", "--max-wait-for-load=60000"],
    ...(size === "desktop" ? ["--preset=desktop"] : []),
  ];
  const { stdout } = await run("npx", words, { maxBuffer: 100_000_000 });
  const result = JSON.parse(stdout) as Result;
  const asked = world.spoor.url + world.pages[name];
  if (result.finalDisplayedUrl !== asked) throw new Error(`${asked} led to ${result.finalDisplayedUrl}`);
  const scores = categories.map((one) => Math.round(100 * (result.categories[one]?.score ?? 0)));
  isGood &&= scores.every((one) => one >= must.score);
  const line = categories.map((one, at) => `${one} ${scores[at]}`).join("  ");
  console.log(`${size.padEnd(8)} ${name.padEnd(10)} ${line}`);
  for (const { id, title, score, displayValue } of Object.values(result.audits))
    if (score !== null && score < 0.9)
      console.log(`         ${id}: ${title}${displayValue ? ` (${displayValue})` : ""}`);
}
