import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { signIn } from "../support/browser.ts";
import { owner } from "../support/server.ts";
import { totp } from "../support/totp.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, page, faults, stranger, button, field, open, sessionStatus, tokenByHand } = await provideSignedIn();

describe("/devices", () => {
  test("a machine that was not heard for over a week is marked, with the days", async () => {
    await tokenByHand("lost-laptop");
    const hear = (days: number) =>
      pool().query(
        "update cli_token set last_used_at = now() - make_interval(days => $1) where machine = 'lost-laptop'",
        [days],
      );
    const row = page.getByRole("listitem").filter({ hasText: "lost-laptop" }).first();
    await hear(3);
    await open("/devices");
    await row.getByText(/^last heard 3 days ago$/).waitFor();
    await hear(12);
    await open("/devices");
    await row.getByText(/silent: last heard 12 days ago/).waitFor();
    await row.getByRole("button", { name: "Revoke", exact: true }).click();
    await row.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("No machine is connected").waitFor();
  });
});

describe("/settings", () => {
  test("the name can be changed, and an empty one is refused at its field", async () => {
    await open("/settings");
    await field("Name").fill("");
    await button("Save name").click();
    await page.locator("[aria-invalid=true]").waitFor();
    await field("Name").fill("Ada L.");
    await button("Save name").click();
    await page.getByText("Your name was changed.").waitFor();
    expect((await trail(owner.email))[0]).toBe("name_changed");
  });

  test("nothing of the account changes over better-auth's own routes", async () => {
    const data = { name: "Eve", image: "javascript:alert(1)" };
    const options = { data, headers: { Origin: server.url } };
    expect((await page.request.post(`${server.url}/api/auth/update-user`, options)).status()).toBe(404);
    const { rows } = await pool().query(`select name, image from "user" where email = $1`, [owner.email]);
    expect(rows).toEqual([{ name: "Ada L.", image: null }]);
  });

  test("a new password needs the old one, and signs out every other browser", async () => {
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

  test("the field for a new password says while one types whether it is hard to guess", async () => {
    await open("/settings");
    const weak = page.getByText(/^Too easy to guess/);
    for (const typed of ["1234567890", `${owner.email}1`]) {
      await field("New password").pressSequentially(typed);
      await weak.waitFor();
      await field("New password").fill("");
      await weak.waitFor({ state: "detached" });
    }
    await field("New password").pressSequentially("test-password-123");
    await page.getByText("Strong").waitFor();
    expect(faults).toEqual([]);
  });

  test("a weak new password is refused at its field, and the old one stays", async () => {
    await open("/settings");
    await field("Current password").fill(owner.password);
    await field("New password").fill("123456789012");
    await button("Change password").click();
    await page.locator("[name=new_password][aria-invalid=true]").waitFor();
    expect((await trail(owner.email))[0]).toBe("password_changed");
  });

  test("a new password also revokes the tokens where that is checked, and a wrong one leaves it checked", async () => {
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

  test("another browser is listed, and signed out once that is confirmed", async () => {
    const other = await stranger();
    await signIn(other, server, owner);
    await open("/settings/sign-ins");
    await button("Revoke").first().click();
    await page.getByText(/^Sign out .*\?$/).waitFor();
    await button("Cancel").click();
    await button("Cancel").waitFor({ state: "detached" });
    expect((await open("/traces", other))?.url()).toBe(`${server.url}/traces`);
    await button("Revoke").first().click();
    await button("Cancel").waitFor();
    await button("Revoke").first().click();
    await page.getByText("No other browser is signed in.").waitFor();
    await open("/traces", other);
    expect(new URL(other.url()).pathname).toBe("/sign-in");
    await other.context().close();
  });

  test("two-factor authentication asks for a code or a recovery code, each of which is in the audit trail", async () => {
    await open("/settings/two-factor");
    await button("Turn on").click();
    await page.locator("[name=account_password][aria-invalid=true]").waitFor();
    await field("Password").fill(owner.password);
    await button("Turn on").click();
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
    await field("Code", other).fill(totp(secret.trim(), Date.now() + 30_000)); // the current one turned it on
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
    await button("Turn off").click();
    await page.locator("[name=account_code][aria-invalid=true]").waitFor();
    const [used = "", fresh = ""] = codes.trim().split("\n");
    for (const code of [used, fresh]) {
      await field("Password").fill(owner.password);
      await field("Code").fill(code);
      await button("Turn off").click();
      if (code === used)
        await page
          .getByText(/^This is not one of your recovery codes/)
          .last()
          .waitFor();
    }
    await page.getByText("Off.").waitFor();
    expect((await trail(owner.email))[0]).toBe("two_factor_disabled");
    expect(faults).toEqual([]);
  });

  test("the audit trail shows what was done", async () => {
    await open("/settings/trail");
    for (const shown of ["Name changed", "Token revoked", "Two-factor authentication turned off", "Password changed"]) {
      await page.getByText(shown).first().waitFor();
    }
  });
});
