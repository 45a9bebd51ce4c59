import { expect, test } from "vitest";
import { interceptFromStart, provideBrowser } from "../support/browser.ts";
import { makeUser, owner, provideServer } from "../support/server.ts";

const server = await provideServer({ worker: false });
await makeUser();
const { page, faults, button, field } = await provideBrowser();

test("says who resets a forgotten password, and sends no header that the browser does not know", async () => {
  const warnings: string[] = [];
  page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
  await page.goto(`${server.url}/sign-in`);
  await page.getByText("Forgot your password?").click();
  await page.getByText("npm run admin -- reset-password").waitFor();
  expect(warnings).toEqual([]);
  expect(faults).toEqual([]);
});

test("shows that it is signing in, and keeps the button's name", async () => {
  await interceptFromStart(page);
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/sign-in*", async (route) => {
    if (route.request().method() === "POST") await answered;
    await route.continue();
  });
  await page.goto(`${server.url}/sign-in`);
  await field("Email").fill(owner.email);
  await field("Password").fill(owner.password);
  await button("Sign in").click();
  await page.locator("button[aria-busy=true] .animate-spin, button[aria-busy=true] [class*=animate-spin]").waitFor();
  expect(await button("Sign in").getAttribute("aria-disabled")).toBe("true");
  answer();
  await page.waitForURL(/\/(?:home|traces)/);
});
