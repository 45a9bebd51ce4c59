import type { Page } from "playwright";
import { beforeAll, describe, expect, test } from "vitest";
import { auth } from "#lib/auth/auth";
import { pool } from "#lib/db/client";
import { signIn } from "../support/browser.ts";
import { owner } from "../support/server.ts";
import { totp } from "../support/totp.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, browser, page, stranger, button, field, open, sessionStatus, tokenByHand } = await provideSignedIn({
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
  const readExpiry = async (page: Page, name: string) =>
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
    const expires = await readExpiry(guest, "session_token");
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
    expect(await readExpiry(guest, "dont_remember")).toBe(chosen ? undefined : -1);
    await guest.context().close();
  });
});

describe("a provider of an account", () => {
  /** Not by its label: the section above has the same name. */
  const password = page.locator("#account_password");
  const refused = page.locator("[name=account_password][aria-invalid=true]");

  beforeAll(() =>
    page.route("https://github.com/**", (route) =>
      route.fulfill({ body: "<h1>GitHub</h1>", contentType: "text/html" }),
    ),
  );

  test("connecting a provider needs the password, and a wrong one is in the audit trail", async () => {
    await open("/settings");
    await password.fill("not the password");
    await button("Connect GitHub").click();
    await refused.waitFor();
    expect((await trail(owner.email))[0]).toBe("reauthentication_failed");
    await password.fill(owner.password);
    await button("Connect GitHub").click();
    await page.waitForURL(/^https:\/\/github\.com\/login\/oauth\/authorize/);
    expect(new URL(page.url()).searchParams.get("redirect_uri")).toBe(`${server.url}/api/auth/callback/github`);
  });

  test("without script the last step is a link to the provider", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    await context.addCookies(await page.context().cookies());
    const scriptless = await context.newPage();
    await open("/settings", scriptless);
    await scriptless.locator("#account_password").fill(owner.password);
    await button("Connect GitHub", scriptless).click();
    const link = scriptless.getByRole("link", { name: "Continue to github.com" });
    expect(await link.getAttribute("href")).toMatch(/^https:\/\/github\.com\/login\/oauth\/authorize\?/);
    await context.close();
  });

  test("disconnecting a provider needs the password too", async () => {
    await pool().query(
      `insert into account (user_id, provider_id, account_id) select id, 'github', '1' from "user" where email = $1`,
      [owner.email],
    );
    await open("/settings");
    await button("Disconnect GitHub").click();
    await refused.waitFor();
    await password.fill(owner.password);
    await button("Disconnect GitHub").click();
    await page.getByText("The provider was disconnected.").waitFor();
    await button("Connect GitHub").waitFor();
    expect((await trail(owner.email))[0]).toBe("provider_unlinked");
  });

  test("without a password, a code of the second factor is needed, and one that was used is not taken", async () => {
    const { headers } = await auth().api.signInEmail({ body: owner, returnHeaders: true });
    const Cookie = headers
      .getSetCookie()
      .map((set) => set.split(";")[0])
      .join("; ");
    const enabling = { body: { password: owner.password }, headers: new Headers({ Cookie }) };
    const enabled = await auth().api.enableTwoFactor(enabling);
    const secret = new URL("totpURI" in enabled ? enabled.totpURI : "").searchParams.get("secret") ?? "";
    await pool().query("update two_factor set verified = true");
    await pool().query(`update "user" set two_factor_enabled = true`);
    await pool().query(`update account set provider_id = 'google' where provider_id = 'credential'`);
    const code = totp(secret);
    const connect = async () => {
      await open("/settings");
      await page.locator("#account_code").fill(code);
      await button("Connect GitHub").click();
    };
    await connect();
    await page.waitForURL(/^https:\/\/github\.com/);
    await connect();
    await page.locator("[name=account_code][aria-invalid=true]").waitFor();
    expect((await trail(owner.email))[0]).toBe("reauthentication_failed");
    await pool().query(`update account set provider_id = 'credential' where provider_id = 'google'`);
    await pool().query(`update "user" set two_factor_enabled = false`);
  });

  test("without a password and a second factor, a sign-in of the last ten minutes is needed", async () => {
    await pool().query(`insert into account (user_id, provider_id, account_id) select id, 'github', '2' from "user"`);
    await pool().query("delete from account where provider_id = 'credential'");
    await pool().query("update session set created_at = now() - interval '11 minutes'");
    await open("/settings");
    expect(await password.count()).toBe(0);
    await button("Disconnect GitHub").click();
    await page.getByText(/^Sign out, sign in again/).waitFor();
    await open("/settings/delete");
    await field("Email").fill(owner.email);
    await button("Delete account").click();
    await page.getByText(/^Sign out, sign in again/).waitFor();
    await pool().query("update session set created_at = now()");
    await open("/settings");
    await button("Disconnect GitHub").click();
    await page.getByText(/^Not disconnected/).waitFor();
  });
});
