import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright";
import { beforeAll, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { pool } from "#lib/db/client";
import { accountTraces } from "#lib/ledger/account";
import { wholeRange } from "#lib/masking/for-others";
import { shareTrace } from "#lib/shares/shares";
import { provideBrowser, signIn, watchFaults } from "../support/browser.ts";
import { isLong, longTest } from "../support/long.ts";
import { expectGoodLook } from "../support/look.ts";
import { ingest, logIn, makeUser, owner, post, provideServer, someAddress } from "../support/server.ts";
import { lowControls } from "./touch.ts";

const server = await provideServer({ environment: { SIGN_UP: "open" } });
const { browser } = await provideBrowser();
let traceId: string;
let userCode: string;
let farCode: string;
let shared: string;

beforeAll(async () => {
  const userId = await makeUser();
  const token = await logIn(server, userId);
  const folder = "tests/fixtures/sessions";
  const names = (await readdir(folder)).sort();
  await ingest(
    server,
    token,
    await Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8")))),
  );
  await accountTraces(10);
  const { rows } = await pool().query<{ id: string }>("select id from trace order by message_count desc limit 1");
  traceId = rows[0]?.id ?? "";
  shared = new URL(await shareTrace(userId, traceId, { ...wholeRange, masked: false, days: 7 }, operator)).pathname;
  const asked = { machine: "ada-laptop", scopes: ["ingest", "read", "delete", "originals"] };
  userCode = (await (await post(server, "/api/cli/device/start", asked)).json()).userCode;
  const elsewhere = { "X-Forwarded-For": someAddress() };
  farCode = (await (await post(server, "/api/cli/device/start", asked, elsewhere)).json()).userCode;
});

const pages = (): Record<string, string> => ({
  "sign-in": "/sign-in",
  "sign-up": "/sign-up",
  setup: "/setup?token=gone",
  shared,
  docs: "/docs",
  "device-code": "/device",
  device: `/device?code=${userCode}`,
  "device-far": `/device?code=${farCode}`,
  home: "/home",
  traces: "/traces",
  "traces-no-hits": "/traces?source=nothing",
  trace: `/traces/${traceId}`,
  uploads: "/uploads",
  upload: "/upload",
  diagnostics: "/diagnostics",
  usage: "/usage?from=2026-11-01&to=2026-11-21&by=project",
  "usage-year": "/usage?days=365",
  "usage-nothing": "/usage?from=2001-01-01&to=2001-01-02",
  devices: "/devices",
  settings: "/settings",
  "two-factor": "/settings/two-factor",
  "sign-ins": "/settings/sign-ins",
  shares: "/settings/shares",
  invitations: "/settings/invitations",
  trail: "/settings/trail",
  "delete-account": "/settings/delete",
  missing: "/nothing-here",
});

/** What other files look at in more states (list, uploads, upload, diagnostics, quota, agents), and a long run does here, too. */
const isElsewhere = (name: string) =>
  !isLong && ["traces", "traces-no-hits", "uploads", "upload", "diagnostics", "settings", "devices"].includes(name);

/** Leaves some of the API's operations, which are built alike and take axe seconds. */
const shorten = (page: Page) =>
  page.locator("main section section").evaluateAll((all) => all.map((one, at) => at % 8 && one.remove()));

const sizes = [
  [1280, 800],
  [360, 740],
] as const;

test.each(isLong ? sizes : sizes.slice(0, 1))(
  "every page at %i px is accessible, fits, and breaks no policy",
  async (width, height) => {
    const context = await browser.newContext({ viewport: { width, height } });
    const faults = watchFaults(context);
    const page = await context.newPage();
    for (const [name, path] of Object.entries(pages())) {
      if (name === "device-code") await signIn(page, server, owner);
      const response = await page.goto(server.url + path, { waitUntil: "load" });
      if (/^usage(-year)?$/.test(name)) await page.locator("figure svg a").first().waitFor();
      const headers = response?.headers() ?? {};
      expect(headers["content-security-policy"], name).toMatch(/frame-ancestors 'none'/);
      expect(headers["content-security-policy"], name).not.toMatch(/unsafe-inline|unsafe-eval/);
      expect(headers, name).toMatchObject({
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      if (name === "docs" && !isLong) await shorten(page);
      if (!isElsewhere(name)) await expectGoodLook(page, name, { fullPage: true });
    }
    // A page that does not exist answers 404, which Chromium logs as an error.
    expect(faults.filter((fault) => !/status of 404/.test(fault))).toEqual([]);
    await context.close();
  },
  120_000,
);

/** Opens every page, signed in from the first that asks for it, and calls `look` on each. */
async function visit(options: BrowserContextOptions, look: (page: Page, name: string) => Promise<void>) {
  const context = await browser.newContext(options);
  watchFaults(context);
  const page = await context.newPage();
  for (const [name, path] of Object.entries(pages())) {
    if (name === "device-code") await signIn(page, server, owner);
    await page.goto(server.url + path, { waitUntil: "load" });
    await look(page, name);
  }
  await context.close();
}

longTest(
  "under a finger every control is at least 44 px high",
  async () => {
    const low: string[] = [];
    const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
    await visit(phone, async (page, name) => {
      low.push(...(await lowControls(page)).map((control) => `${name}: ${control}`));
    });
    expect(low).toEqual([]);
  },
  120_000,
);

/** Everything that can take the focus by Tab and is to be seen. */
const reachable =
  "a[href]:visible, button:enabled:visible, input:enabled:visible, select:visible, textarea:visible, summary:visible, [tabindex='0']:visible";

longTest(
  "every page is gone through by Tab, the way past the bar first, and the focus is always seen",
  async () => {
    await visit({ viewport: { width: 1280, height: 800 } }, async (page, name) => {
      const wanted = await page.locator(reachable).evaluateAll((all) => {
        const stops = all.filter((one) => (one as HTMLElement).tabIndex >= 0);
        for (const stop of stops) stop.setAttribute("data-stop", "");
        return stops.length;
      });
      // Some more than were counted: a page's script may bring some, and the browser stops at blocks that scroll.
      for (let presses = 0; presses < 2 * wanted + 20; presses += 1) {
        await page.keyboard.press("Tab");
        const focus = await page.evaluate(() => {
          const one = document.activeElement;
          if (!one || one === document.body) return undefined;
          one.removeAttribute("data-stop");
          return {
            text: one.textContent,
            outline: getComputedStyle(one).outlineStyle,
            html: one.outerHTML.slice(0, 120),
          };
        });
        if (!focus) break;
        if (presses === 0) expect(focus.text, name).toBe("Skip to the content");
        expect(focus.outline, `${name}: ${focus.html}`).not.toBe("none");
      }
      const missed = await page
        .locator("[data-stop]")
        .evaluateAll((all) => all.map((one) => one.outerHTML.slice(0, 120)));
      expect(missed, name).toEqual([]);
    });
  },
  180_000,
);

test("the chosen theme is there with the first byte, whatever the system's is", async () => {
  const context = await browser.newContext({ colorScheme: "light" });
  await context.addCookies([{ name: "spoor_theme", value: "dark", url: server.url }]);
  const page = await context.newPage();
  const html = await (await page.goto(`${server.url}/sign-in`))?.text();
  expect(html).toMatch(/<html lang="en" data-theme="dark"/);
  expect(html).toMatch(/<meta name="color-scheme" content="dark"/);
  expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(15, 20, 21)");
  await context.close();
});
