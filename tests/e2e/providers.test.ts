import { expect, test } from "vitest";
import { auth } from "#lib/auth/auth";
import { pool } from "#lib/db/client";
import { owner } from "../support/server.ts";
import { totp } from "../support/totp.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, browser, page, button, field, open } = await provideSignedIn({
  GITHUB_CLIENT_ID: "our-client-id",
  GITHUB_CLIENT_SECRET: "our-secret",
});

await page.route("https://github.com/**", (route) =>
  route.fulfill({ body: "<h1>GitHub</h1>", contentType: "text/html" }),
);

/** Not by its label: the section above has the same name. */
const password = page.locator("#account_password");
const refused = page.locator("[name=account_password][aria-invalid=true]");

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
