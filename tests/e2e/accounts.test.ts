import type { Browser, BrowserContext, Page } from "playwright";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { launchBrowser, signIn, watchFaults } from "../support/browser.ts";
import { get, makeUser, owner, post, type Server, startServer } from "../support/server.ts";
import { totp } from "../support/totp.ts";

let server: Server;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let faults: string[];
const bob = { name: "Bob", email: "bob@example.org", password: "bob's long password" };

beforeAll(async () => {
  server = await startServer({
    worker: false,
    environment: { GITHUB_CLIENT_ID: "our-client-id", GITHUB_CLIENT_SECRET: "our-secret" },
  });
  await makeUser();
  browser = await launchBrowser();
  context = await browser.newContext();
  faults = watchFaults(context);
  page = await context.newPage();
  await signIn(page, server, owner);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});
beforeEach(() => {
  faults.length = 0;
});

const button = (name: string, on = page) => on.getByRole("button", { name, exact: true });
const field = (name: string, on = page) => on.getByLabel(name, { exact: true });
const sessionStatus = async (token: string) => (await get(server, "/api/cli/session", token)).status;
const open = (path: string, on = page) => on.goto(server.url + path);

async function stranger(): Promise<Page> {
  const other = await browser.newContext();
  other.setDefaultTimeout(10_000);
  return other.newPage();
}

async function startLogin(machine: string) {
  const response = await post(server, "/api/cli/device/start", { machine });
  return (await response.json()) as { deviceCode: string; verificationUriComplete: string };
}

async function tokenByHand(machine: string, on = page): Promise<string> {
  await open("/devices", on);
  await field("Machine", on).fill(machine);
  await button("Make token", on).click();
  return String(await on.locator("pre", { hasText: /^spoor_/ }).textContent()).trim();
}

async function trail(email: string): Promise<string[]> {
  const { rows } = await pool().query<{ action: string }>(
    `select action from audit_event join "user" on "user".id = user_id where email = $1 order by audit_event.id desc`,
    [email],
  );
  return rows.map(({ action }) => action);
}

describe("/devices", () => {
  test("a token made by hand is shown once, works, and is refused from its revocation on", async () => {
    const token = await tokenByHand("build-server");
    expect(await sessionStatus(token)).toBe(200);
    expect(page.url()).not.toContain("spoor_");
    await page.reload();
    expect(await page.content()).not.toContain(token);
    const row = page.getByRole("listitem").filter({ hasText: "build-server" }).first();
    await row.getByText("last used").waitFor();
    await row.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("No machine is connected").waitFor();
    expect(await sessionStatus(token)).toBe(401);
    expect((await trail(owner.email)).slice(0, 2)).toEqual(["token_revoked", "token_created"]);
    expect(faults).toEqual([]);
  });

  test("all tokens are revoked together", async () => {
    const tokens = [await tokenByHand("one"), await tokenByHand("two")];
    await open("/devices");
    await page.locator("summary", { hasText: "Revoke every token" }).click();
    await button("Revoke all").click();
    await page.getByText("No machine is connected").waitFor();
    expect(await Promise.all(tokens.map(sessionStatus))).toEqual([401, 401]);
  });
});

describe("an approval", () => {
  test("with another login's ticket, or a made-up one, changes nothing", async () => {
    const [mine, other] = [await startLogin("mine"), await startLogin("other")];
    await page.goto(other.verificationUriComplete);
    const strange = await page.locator("form#approve input[name=ticket]").inputValue();
    for (const value of [strange, "AAAA", ""]) {
      await page.goto(mine.verificationUriComplete);
      await page
        .locator("form#approve input[name=ticket]")
        .evaluate((input, given) => input.setAttribute("value", given), value);
      await button("Approve").click();
      await page.getByText("not made for the session").waitFor();
      expect((await get(server, `/api/cli/device/poll?deviceCode=${mine.deviceCode}`)).status).toBe(202);
    }
  });

  /** Posts an approval form as a browser without scripts does, with headers and a session of one's choice. */
  async function postForm(
    html: string,
    login: Awaited<ReturnType<typeof startLogin>>,
    headers: Record<string, string>,
    by = page,
  ) {
    const form = /<form[^>]*id="approve"[\s\S]*?<\/form>/.exec(html)?.[0] ?? "";
    const multipart: Record<string, string> = {};
    for (const [tag] of form.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
      const value = /\svalue="([^"]*)"/.exec(tag)?.[1] ?? "";
      multipart[/\sname="([^"]*)"/.exec(tag)?.[1] ?? ""] = value.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
    }
    expect(Object.keys(multipart).length).toBeGreaterThan(1);
    await by.request.post(login.verificationUriComplete, {
      multipart,
      headers,
      maxRedirects: 0,
      failOnStatusCode: false,
    });
    return (await get(server, `/api/cli/device/poll?deviceCode=${login.deviceCode}`)).status;
  }

  test("posted without an Origin, from a foreign one, or from another session's form changes nothing", async () => {
    const login = await startLogin("posted");
    const html = await (await page.request.get(login.verificationUriComplete)).text();
    expect(await postForm(html, login, {})).toBe(202);
    expect(await postForm(html, login, { Origin: "https://evil.example" })).toBe(202);
    expect(await postForm(html, login, { Origin: "null" })).toBe(202);
    expect(await postForm(html, login, { Origin: server.url, "Sec-Fetch-Site": "cross-site" })).toBe(202);
    const other = await stranger();
    await signIn(other, server, owner);
    expect(await postForm(html, login, { Origin: server.url }, other)).toBe(202);
    await other.context().close();
    expect(await postForm(html, login, { Origin: server.url })).toBe(200);
  });

  test("from a form of a session that has ended is refused", async () => {
    const login = await startLogin("ended");
    const other = await stranger();
    await signIn(other, server, owner);
    await other.goto(login.verificationUriComplete);
    await pool().query("delete from session where id = (select id from session order by created_at desc limit 1)");
    await button("Approve", other).click();
    await other.waitForURL(/sign-in/);
    expect((await get(server, `/api/cli/device/poll?deviceCode=${login.deviceCode}`)).status).toBe(202);
    await other.context().close();
  });
});

describe("/settings", () => {
  test("the name is changed, and an empty one is refused at its field", async () => {
    await open("/settings");
    await field("Name").fill("");
    await button("Save name").click();
    await page.locator("[aria-invalid=true]").waitFor();
    await field("Name").fill("Ada L.");
    await button("Save name").click();
    await page.getByText("Your name was changed.").waitFor();
    expect((await trail(owner.email))[0]).toBe("name_changed");
  });

  test("better-auth's own routes keep to the forms' rules and to the trail", async () => {
    const update = (data: object) =>
      page.request.post(`${server.url}/api/auth/update-user`, { data, headers: { Origin: server.url } });
    for (const data of [{ name: "" }, { name: "x".repeat(101) }]) expect((await update(data)).status()).toBe(400);
    expect((await update({ name: "Ada", image: "javascript:alert(1)" })).status()).toBe(200);
    const { rows } = await pool().query(`select name, image from "user" where email = $1`, [owner.email]);
    expect(rows).toEqual([{ name: "Ada", image: null }]);
    expect((await trail(owner.email))[0]).toBe("name_changed");
  });

  test("a new password needs the old one, and ends every other session", async () => {
    const other = await stranger();
    await signIn(other, server, owner);
    await open("/settings");
    await field("Current password").fill("not the password");
    await field("New password").fill("a new long password");
    await button("Change password").click();
    await page.locator("[aria-invalid=true]").waitFor();
    await field("Current password").fill(owner.password);
    await field("New password").fill("a new long password");
    await button("Change password").click();
    await page.getByText("Your password was changed").waitFor();
    owner.password = "a new long password";
    await open("/traces", other);
    expect(new URL(other.url()).pathname).toBe("/sign-in");
    await open("/traces");
    expect(new URL(page.url()).pathname).toBe("/traces");
    expect((await trail(owner.email))[0]).toBe("password_changed");
    await other.context().close();
  });

  test("a new password revokes the tokens as well where that is ticked, and a wrong one leaves it ticked", async () => {
    const [before, after] = [owner.password, "a newer long password"];
    const kept = await tokenByHand("kept");
    await open("/settings");
    await field("Current password").fill("not the password");
    await field("New password").fill(after);
    await field("Also revoke the tokens of all my machines").check();
    await button("Change password").click();
    await page.locator("[aria-invalid=true]").waitFor();
    expect(await sessionStatus(kept)).toBe(200);
    expect(await field("Also revoke the tokens of all my machines").isChecked()).toBe(true);
    await field("Current password").fill(before);
    await field("New password").fill(after);
    await button("Change password").click();
    await page.getByText("all machines were signed out").waitFor();
    owner.password = after;
    expect(await sessionStatus(kept)).toBe(401);
    const [last, ...earlier] = await trail(owner.email);
    expect([last, earlier.find((action) => action !== "token_revoked")]).toEqual(["token_revoked", "password_changed"]);
  });

  test("another session is listed, and ended", async () => {
    const other = await stranger();
    await signIn(other, server, owner);
    await open("/settings/sessions");
    await button("End session").first().click();
    await page.getByText("There is no other.").waitFor();
    await open("/traces", other);
    expect(new URL(other.url()).pathname).toBe("/sign-in");
    await other.context().close();
  });

  test("the second factor is asked for from then on, by code or by recovery code, each kept in the trail", async () => {
    await open("/settings/two-factor");
    await field("Password").fill(owner.password);
    await button("Switch on").click();
    const image = page.getByAltText("QR code");
    await image.waitFor();
    expect(await image.evaluate((element) => element.getBoundingClientRect().width)).toBeGreaterThan(100);
    const [secret = "", codes = ""] = await page.locator("main pre").allInnerTexts();
    await field("Code").fill(totp(secret.trim()));
    await button("Confirm").click();
    await page.getByText("The next sign-in asks for a code").waitFor();
    expect(await trail(owner.email)).toContain("two_factor_enabled");

    const other = await stranger();
    const password = async () => {
      await open("/sign-in?next=%2Fuploads", other);
      await field("Email", other).fill(owner.email);
      await field("Password", other).fill(owner.password);
      await button("Sign in", other).click();
      await other.waitForURL(/second-factor/);
    };
    await password();
    await open("/traces", other);
    expect(new URL(other.url()).pathname).toBe("/sign-in");
    await password();
    await field("Code", other).fill("000000");
    await button("Verify", other).click();
    await other.locator("[aria-invalid=true]").waitFor();
    await field("Code", other).fill(totp(secret.trim()));
    await button("Verify", other).click();
    await other.waitForURL(`${server.url}/uploads`);
    expect((await trail(owner.email)).slice(0, 4)).toEqual([
      "signed_in",
      "sign_in_failed",
      "password_accepted",
      "password_accepted",
    ]);
    await other.context().clearCookies();
    await password();
    await other.getByRole("link", { name: "Use a recovery code" }).click();
    await field("Recovery code", other).fill(codes.trim().split("\n")[0] ?? "");
    await button("Use recovery code", other).click();
    await other.waitForURL(`${server.url}/uploads`);
    await other.context().close();

    await open("/settings/two-factor");
    await field("Password").fill(owner.password);
    await button("Switch off").click();
    await page.getByText("Off.").waitFor();
    expect((await trail(owner.email))[0]).toBe("two_factor_disabled");
    expect(faults).toEqual([]);
  });

  test("an invitation makes an account, whose user sees none of the owner's things", async () => {
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
    await guest.context().close();
  });

  test("the trail shows what was done", async () => {
    await open("/settings/trail");
    for (const shown of ["Invitation used", "Token revoked", "Second factor switched off", "Password changed"]) {
      await page.getByText(shown).first().waitFor();
    }
  });

  test("an account is deleted with its password only, and is gone at once", async () => {
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

test("GitHub is offered where its keys are set, and is asked in this server's name", async () => {
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
