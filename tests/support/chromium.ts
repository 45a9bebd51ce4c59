import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright";
import { installTools } from "../../tools/install.ts";

const installed = ["/usr/bin/chromium", "/usr/bin/google-chrome"];

/** Finds the machine's Chromium, else Playwright's if installed, else the one in an npm package (Linux). */
export async function findChromium(): Promise<string> {
  return [...installed, chromium.executablePath()].find((path) => existsSync(path)) ?? (await unpacked());
}

/** The package looks for fonts in /tmp and crashes without them, so it must not use TMPDIR. */
async function unpacked(): Promise<string> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = "/tmp";
  // The package unpacks its shared libraries only if this variable is set.
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
 * Global set-up of a run: unpacks Chromium once, so that two tests don't do it at the same time. It runs in a separate
 * process, since the package changes the environment, which databases and servers would inherit.
 */
export default async function setup() {
  await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url)]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await findChromium();
