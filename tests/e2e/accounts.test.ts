import type { Page } from "playwright";
import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { signIn } from "../support/browser.ts";
import { owner } from "../support/server.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, page, stranger, button, field, open, sessionStatus, tokenByHand } = await provideSignedIn({
  GITHUB_CLIENT_ID: "our-client-id",
  GITHUB_CLIENT_SECRET: "our-secret",
});

const bob = { name: "Bob", email: "bob@example.org", password: "bob's long password" };

describe("accounts", () => {
  test("an invitation creates an account, whose user sees nothing of the owner's", async () => {
    await open("/settings/invitations");
    await field("Email").fill(bob.email);
    await button("Invite").click();
    const link = String(await page.locator("pre", { hasText: "invitation=" }).textContent()).trim();
    const guest = await stranger();
    await guest.goto(link);
    expect(await field("Email", guest).inputValue()).toBe(bob.email);
    await field("Name", guest).fill(bob.name);
    await field("Password", guest).fill(bob.password);
    await button("Create account", guest).click();
    await guest.waitForURL(`${server.url}/traces`);
    expect((await open("/settings/invitations", guest))?.status()).toBe(404);
    await guest.goto(link);
    expect(await button("Create account", guest).count()).toBe(0);
    expect((await trail(owner.email))[0]).toBe("invitation_used");
    await guest.context().close();
  });

  test("an account is deleted only with its password, and at once", async () => {
    const leaver = await stranger();
    await signIn(leaver, server, bob);
    const token = await tokenByHand("bob's laptop", leaver);
    await open("/settings/delete", leaver);
    await field("Password", leaver).fill("wrong password");
    await button("Delete account", leaver).click();
    await leaver.locator("[aria-invalid=true]").waitFor();
    await field("Password", leaver).fill(bob.password);
    await button("Delete account", leaver).click();
    await leaver.waitForURL(/sign-in/);
    expect(await sessionStatus(token)).toBe(401);
    expect((await pool().query(`select 1 from "user" where email = $1`, [bob.email])).rowCount).toBe(0);
    await leaver.context().close();
  });
});

test("sign-in with GitHub is offered where its keys are set, and starts with this server's callback", async () => {
  const guest = await stranger();
  await guest.route("https://github.com/**", (route) =>
    route.fulfill({ body: "<h1>GitHub</h1>", contentType: "text/html" }),
  );
  await open("/sign-in", guest);
  expect(await button("Sign in with Google", guest).count()).toBe(0);
  await button("Sign in with GitHub", guest).click();
  await guest.waitForURL(/^https:\/\/github\.com\/login\/oauth\/authorize/);
  const asked = new URL(guest.url()).searchParams;
  expect(asked.get("client_id")).toBe("our-client-id");
  expect(asked.get("redirect_uri")).toBe(`${server.url}/api/auth/callback/github`);
  expect(asked.get("state")?.length).toBeGreaterThan(20);
  await guest.context().close();
});

describe("a browser", () => {
  const expiryOf = async (page: Page, name: string) =>
    (await page.context().cookies()).find((cookie) => cookie.name === `authlib.${name}`)?.expires;

  test.each([
    [true, 30],
    [false, undefined],
  ])("is remembered where that is chosen: %s", async (chosen, days) => {
    const guest = await stranger();
    await open("/sign-in", guest);
    await field("Email", guest).fill(owner.email);
    await field("Password", guest).fill("not the password");
    await field("Remember this browser", guest).setChecked(chosen);
    await button("Sign in", guest).click();
    await guest.getByText("Email or password is wrong.").waitFor();
    expect(await field("Remember this browser", guest).isChecked()).toBe(chosen);
    await field("Password", guest).fill(owner.password);
    await button("Sign in", guest).click();
    await guest.waitForURL(`${server.url}/traces`);
    const expires = await expiryOf(guest, "session_token");
    if (days === undefined) expect(expires).toBe(-1);
    else expect(Math.round(((expires ?? 0) - Date.now() / 1000) / 86_400)).toBe(days);
    await guest.context().close();
  });

  test.each([true, false])("carries that choice to a provider and back: %s", async (chosen) => {
    const guest = await stranger();
    await guest.route("https://github.com/**", (route) => route.fulfill({ body: "GitHub" }));
    await open("/sign-in", guest);
    await field("and remember this browser", guest).setChecked(chosen);
    await button("Sign in with GitHub", guest).click();
    await guest.waitForURL(/^https:\/\/github\.com/);
    expect(await expiryOf(guest, "dont_remember")).toBe(chosen ? undefined : -1);
    await guest.context().close();
  });
});
