// `npm run lighthouse`: Lighthouse's scores of the list, the reader and usage, on a phone and a desktop; below 95 it fails.
// Lighthouse is no dependency: npx fetches this version where it is run.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { freePort } from "#lib/db/ports";
import { launchBrowser } from "../support/browser.ts";
import { startWorld } from "./world.ts";

const version = "lighthouse@13.5.0";
const categories = ["performance", "accessibility", "best-practices"];
const must = 95;
const shown = ["home", "sessions", "session", "usage"];

const run = promisify(execFile);
const { spoor, cookies, pages } = await startWorld();
const port = await freePort();
const browser = await launchBrowser([`--remote-debugging-port=${port}`]);
let isGood = true;
try {
  for (const size of ["desktop", "mobile"]) {
    for (const name of shown) {
      const words = [
        ...["--yes", version, `${spoor.url}${pages[name]}`, `--port=${port}`, "--quiet", "--output=json"],
        ...[`--only-categories=${categories.join(",")}`, "--output-path=stdout", "--max-wait-for-load=60000"],
        ...[
          `--extra-headers=${JSON.stringify({ Cookie: cookies })}`,
          ...(size === "desktop" ? ["--preset=desktop"] : []),
        ],
      ];
      const { stdout } = await run("npx", words, { maxBuffer: 100_000_000 });
      const result = JSON.parse(stdout) as Result;
      const scores = categories.map((one) => Math.round(100 * (result.categories[one]?.score ?? 0)));
      isGood &&= scores.every((score) => score >= must);
      console.log(
        `${size.padEnd(8)} ${name.padEnd(10)} ${categories.map((one, at) => `${one} ${scores[at]}`).join("  ")}`,
      );
      for (const { id, title, score, displayValue } of Object.values(result.audits))
        if (score !== null && score < 0.9)
          console.log(`         ${id}: ${title}${displayValue ? ` (${displayValue})` : ""}`);
    }
  }
} finally {
  await browser.close();
  await spoor.stop();
}
process.exit(isGood ? 0 : 1);

type Result = {
  categories: Record<string, { score: number | null } | undefined>;
  audits: Record<string, { id: string; title: string; score: number | null; displayValue?: string }>;
};
