import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { signIn } from "../support/browser.ts";
import { get, owner, post } from "../support/server.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, browser, page, faults, stranger, button, open, sessionStatus, tokenByHand } = await provideSignedIn();

async function startLogin(machine: string) {
  const response = await post(server, "/api/cli/device/start", { machine });
  return (await response.json()) as { deviceCode: string; verificationUriComplete: string };
}

describe("/devices", () => {
  test("a token created by hand is shown once, works, and is refused after it is revoked", async () => {
    const token = await tokenByHand("build-server");
    expect(await sessionStatus(token)).toBe(200);
    expect(page.url()).not.toContain("spoor_");
    await page.reload();
    expect(await page.content()).not.toContain(token);
    const row = page.getByRole("listitem").filter({ hasText: "build-server" }).first();
    await row.getByText("last used").waitFor();
    await row.getByRole("button", { name: "Revoke", exact: true }).click();
    await row.getByText("Revoke the token of build-server?").waitFor();
    expect(await sessionStatus(token)).toBe(200);
    await row.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("No machine is connected").waitFor();
    expect(await sessionStatus(token)).toBe(401);
    expect((await trail(owner.email)).slice(0, 2)).toEqual(["token_revoked", "token_created"]);
    expect(faults).toEqual([]);
  });

  test("without script, Revoke asks in the row of its machine, and Cancel changes nothing", async () => {
    const [kept, revoked] = [await tokenByHand("kept-machine"), await tokenByHand("old-machine")];
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const other = await plain.newPage();
    await signIn(other, server, owner);
    await open("/devices", other);
    const row = other.getByRole("listitem").filter({ hasText: "old-machine" }).first();
    const press = (name: string) => row.getByRole("button", { name, exact: true }).click();
    await press("Revoke");
    await row.getByText("Revoke the token of old-machine?").waitFor();
    expect(await other.getByRole("button", { name: "Cancel" }).count()).toBe(1);
    await press("Cancel");
    await row.getByText("Revoke the token of").waitFor({ state: "detached" });
    await press("Revoke");
    await press("Revoke");
    await row.getByRole("button").waitFor({ state: "detached" });
    expect([await sessionStatus(kept), await sessionStatus(revoked)]).toEqual([200, 401]);
    await plain.close();
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
      await page.getByText("opened in another sign-in").waitFor();
      expect((await get(server, `/api/cli/device/poll?deviceCode=${mine.deviceCode}`)).status).toBe(202);
    }
  });

  /** Posts an approval form as a browser without scripts does, with chosen headers, by a chosen browser. */
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

  test("posted without an Origin, from a foreign one, or from another sign-in's form changes nothing", async () => {
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

  test("from the form of a browser that was signed out is refused", async () => {
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
