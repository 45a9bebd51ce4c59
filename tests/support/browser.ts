import { type Browser, type BrowserContext, chromium, type Page } from "playwright";
import { afterAll, beforeEach } from "vitest";
import { findChromium } from "./chromium.ts";
import type { Server } from "./server.ts";

/** The timeout of a click or a wait, in ms: a busy machine may be ten times slower than an idle one. */
const patience = 30_000;

/** Starts the installed Chromium. @param more flags for its command line */
export async function launchBrowser(more: string[] = []): Promise<Browser> {
  const flags = [
    ...more,
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
  ];
  try {
    return await chromium.launch({ executablePath: await findChromium(), args: flags });
  } catch (cause) {
    throw new Error("No Chromium starts here. Get one with: npx playwright install chromium", { cause });
  }
}

/** Records faults of pages: violations of the content security policy, exceptions, and logged errors. */
export function watchFaults(context: BrowserContext): string[] {
  context.setDefaultTimeout(patience);
  const faults: string[] = [];
  context.on("weberror", (error) => faults.push(`threw: ${error.error().message}`));
  context.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  return faults;
}

/** Finds a page's buttons and fields by their exact names; `on` selects another page. */
const findControls = (page: Page) => ({
  button: (name: string, on = page) => on.getByRole("button", { name, exact: true }),
  field: (name: string, on = page) => on.getByLabel(name, { exact: true }),
});

/**
 * Intercepts a page's requests from the first one. Chromium would not intercept requests that follow right after the
 * first call of `route`.
 */
export const interceptFromStart = (page: Page): Promise<unknown> =>
  page.context().route("https://interception.invalid/**", (route) => route.abort());

/**
 * Opens a page whose requests can be intercepted, with another page's sign-in. It loads at half the speed, since the
 * browser caches nothing for it.
 */
export async function openIntercepted(page: Page): Promise<{ page: Page; faults: string[] }> {
  const browser = page.context().browser();
  if (!browser) throw new Error("the browser is closed");
  const context = await browser.newContext({ storageState: await page.context().storageState() });
  const faults = watchFaults(context);
  const other = await context.newPage();
  await interceptFromStart(other);
  return { page: other, faults };
}

/** All files of a run share the browser. */
let shared: Promise<Browser> | undefined;

/**
 * Provides a browser with one open page for a test file. Its pages are closed after the file's last test.
 *
 * @returns `faults`: the page's faults in the current test; `stranger` opens a signed-out page
 */
export async function provideBrowser() {
  shared ??= launchBrowser();
  const browser = await shared;
  afterAll(async () => {
    for (const context of browser.contexts()) await context.close();
  });
  const context = await browser.newContext();
  const faults = watchFaults(context);
  beforeEach(() => {
    faults.length = 0;
  });
  const page = await context.newPage();
  const stranger = async (): Promise<Page> => {
    const other = await browser.newContext();
    other.setDefaultTimeout(patience);
    return other.newPage();
  };
  return { browser, page, faults, stranger, ...findControls(page) };
}

type Account = { email: string; password: string };

/** Signs in without the form, which saves a second; the page does not change. */
export async function signIn(page: Page, server: Server, { email, password }: Account): Promise<void> {
  const request = { headers: { Origin: server.url }, data: { email, password } };
  const response = await page.request.post(`${server.url}/api/auth/sign-in/email`, request);
  if (!response.ok()) throw new Error(`signing in answered ${response.status()}: ${await response.text()}`);
  // The form's page stores the time zone; otherwise the next page would be rendered again during the test.
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  await page.context().addCookies([{ name: "spoor_tz", value: encodeURIComponent(timeZone), url: server.url }]);
}

/** Signs in as a person does, also without JavaScript. */
export async function signInByForm(page: Page, server: Server, account: Account): Promise<void> {
  await page.goto(`${server.url}/sign-in`);
  await page.getByLabel("Email", { exact: true }).fill(account.email);
  await page.getByLabel("Password", { exact: true }).fill(account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(`${server.url}/traces`);
}
