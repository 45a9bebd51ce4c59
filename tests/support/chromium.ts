import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright";
import { installTools } from "../../tools/install.ts";

const installed = ["/usr/bin/chromium", "/usr/bin/google-chrome"];

/** The machine's Chromium, else Playwright's own where it was installed, else the one inside an npm package (Linux). */
export async function findChromium(): Promise<string> {
  return [...installed, chromium.executablePath()].find((path) => existsSync(path)) ?? (await unpacked());
}

/** The package's own list of places for fonts names /tmp, and without fonts it crashes: TMPDIR must not lead it elsewhere. */
async function unpacked(): Promise<string> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = "/tmp";
  // The package unpacks its shared libraries only where this variable names its runtime.
  process.env.AWS_LAMBDA_JS_RUNTIME ??= "nodejs24.x";
  installTools();
  try {
    const { default: packed } = await import("@sparticuz/chromium");
    return await packed.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

/**
 * A run's global set-up: unpacks it once, before two tests do so at the same time. In a process of its own, since the package changes
 * the environment, which databases and servers would inherit.
 */
export default async function setup() {
  await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url)]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await findChromium();
