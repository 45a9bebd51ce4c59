import { type Browser, type BrowserContext, chromium, type Page } from "playwright";
import { afterAll, beforeEach } from "vitest";
import { findChromium } from "./chromium.ts";
import type { Server } from "./server.ts";

/** The timeout of a click or a wait, in ms: a busy machine may be ten times slower than an idle one. */
const patience = 30_000;

/** Starts the Chromium that there is. @param more flags for its command line */
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

/** Records what a page must never do: violate its content security policy, throw, or log an error. */
export function watchFaults(context: BrowserContext): string[] {
  context.setDefaultTimeout(patience);
  const faults: string[] = [];
  context.on("weberror", (error) => faults.push(`threw: ${error.error().message}`));
  context.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  return faults;
}

/** A page's buttons and fields by their exact names; `on` names another page. */
const controlsOf = (page: Page) => ({
  button: (name: string, on = page) => on.getByRole("button", { name, exact: true }),
  field: (name: string, on = page) => on.getByLabel(name, { exact: true }),
});

/**
 * Intercepts a page's requests from its first one on. Otherwise Chromium lets pass what a page requests right after the first
 * call of `route`.
 */
export const interceptFromStart = (page: Page): Promise<unknown> =>
  page.context().route("https://interception.invalid/**", (route) => route.abort());

/**
 * A page whose requests can be intercepted, in the same sign-in as another one. The browser caches nothing for it: a page loads in twice
 * the time.
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

/** The browser of all files of a run. */
let shared: Promise<Browser> | undefined;

/**
 * A browser for the test file that awaits it, with one page open. All of its pages are closed after the file's last test.
 *
 * @returns `faults`: that page's faults in the current test; `stranger` opens a page that is signed out.
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
  return { browser, page, faults, stranger, ...controlsOf(page) };
}

type Account = { email: string; password: string };

/** Signs in without the form, which takes a second less; the page stays where it is. */
export async function signIn(page: Page, server: Server, { email, password }: Account): Promise<void> {
  const request = { headers: { Origin: server.url }, data: { email, password } };
  const response = await page.request.post(`${server.url}/api/auth/sign-in/email`, request);
  if (!response.ok()) throw new Error(`signing in answered ${response.status()}: ${await response.text()}`);
  // The form's page stores the zone; without it the next page would be rendered once more, under the hands of the test.
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  await page.context().addCookies([{ name: "spoor_tz", value: encodeURIComponent(timeZone), url: server.url }]);
}

/** Signs in as a person does, also without script. */
export async function signInByForm(page: Page, server: Server, account: Account): Promise<void> {
  await page.goto(`${server.url}/sign-in`);
  await page.getByLabel("Email", { exact: true }).fill(account.email);
  await page.getByLabel("Password", { exact: true }).fill(account.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.waitForURL(`${server.url}/traces`);
}
