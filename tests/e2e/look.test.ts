import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser } from "playwright";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { countUsage } from "#lib/usage/count";
import { launchBrowser, signIn, watchFaults } from "../support/browser.ts";
import { ingest, logIn, makeUser, owner, post, type Server, startServer } from "../support/server.ts";

let server: Server;
let browser: Browser;
let traceId: string;
let userCode: string;

beforeAll(async () => {
  server = await startServer({ environment: { SIGN_UP: "open" } });
  const userId = await makeUser();
  const token = await logIn(server, userId);
  const folder = "tests/fixtures/conversations";
  const names = (await readdir(folder)).sort();
  await ingest(
    server,
    token,
    await Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8")))),
  );
  await countUsage(10);
  const { rows } = await pool().query<{ id: string }>("select id from trace order by message_count desc limit 1");
  traceId = rows[0]?.id ?? "";
  userCode = (await (await post(server, "/api/cli/device/start", { machine: "ada-laptop" })).json()).userCode;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const pages = (): Record<string, string> => ({
  "sign-in": "/sign-in",
  "sign-up": "/sign-up",
  setup: "/setup?token=gone",
  docs: "/docs",
  "device-code": "/device",
  device: `/device?code=${userCode}`,
  traces: "/traces",
  "traces-no-hits": "/traces?source=nothing",
  trace: `/traces/${traceId}`,
  uploads: "/uploads",
  usage: "/usage?from=2026-11-01&to=2026-11-21&by=project",
  "usage-year": "/usage?days=365",
  "usage-nothing": "/usage?from=2001-01-01&to=2001-01-02",
  devices: "/devices",
  settings: "/settings",
  "two-factor": "/settings/two-factor",
  sessions: "/settings/sessions",
  invitations: "/settings/invitations",
  trail: "/settings/trail",
  "delete-account": "/settings/delete",
  missing: "/nothing-here",
});

describe.each(["light", "dark"] as const)("in the %s theme", (colorScheme) => {
  test.each([
    [1280, 800],
    [360, 740],
  ])(
    "every page at %i px is accessible, fits, and breaks no policy",
    async (width, height) => {
      const context = await browser.newContext({ colorScheme, viewport: { width, height } });
      const faults = watchFaults(context);
      const page = await context.newPage();
      for (const [name, path] of Object.entries(pages())) {
        if (name === "device-code") await signIn(page, server, owner);
        const response = await page.goto(server.url + path, { waitUntil: "load" });
        const headers = response?.headers() ?? {};
        expect(headers["content-security-policy"], name).toMatch(/frame-ancestors 'none'/);
        expect(headers["content-security-policy"], name).not.toMatch(/unsafe-inline|unsafe-eval/);
        expect(headers, name).toMatchObject({
          "x-frame-options": "DENY",
          "referrer-policy": "no-referrer",
          "x-content-type-options": "nosniff",
          "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
        });
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect(overflow, `${name} is too wide`).toBeLessThanOrEqual(0);
        const { violations } = await new AxeBuilder({ page }).analyze();
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(serious.map(({ id, nodes }) => `${name}: ${id} ${nodes[0]?.html}`)).toEqual([]);
        if (process.env.SCREENSHOTS)
          await page.screenshot({
            path: `${process.env.SCREENSHOTS}/${name}-${width}-${colorScheme}.png`,
            fullPage: true,
          });
      }
      // A page that does not exist answers 404, which Chromium logs as an error.
      expect(faults.filter((fault) => !/status of 404/.test(fault))).toEqual([]);
      await context.close();
    },
    120_000,
  );
});
