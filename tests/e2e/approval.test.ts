import { describe, expect, test } from "vitest";
import { operator } from "#lib/auth/audit";
import { createTokenByHand } from "#lib/auth/tokens";
import { pool } from "#lib/db/client";
import { signIn } from "../support/browser.ts";
import { getFields } from "../support/form.ts";
import { get, owner, post, someAddress } from "../support/server.ts";
import { provideSignedIn, trail } from "./signed-in.ts";

const { server, userId, browser, page, faults, stranger, button, field, open, sessionStatus, tokenByHand } =
  await provideSignedIn();

async function startLogin(machine: string, { scopes, from }: { scopes?: string[]; from?: string } = {}) {
  const headers: Record<string, string> = from ? { "X-Forwarded-For": from } : {};
  const response = await post(server, "/api/cli/device/start", { machine, scopes }, headers);
  return (await response.json()) as { deviceCode: string; userCode: string; verificationUriComplete: string };
}

const poll = (deviceCode: string) => get(server, `/api/cli/device/poll?deviceCode=${deviceCode}`);
const grantedTo = async (deviceCode: string) => (await (await poll(deviceCode)).json()).scopes;

/** What `tokenByHand` makes on the page, made directly. */
const makeToken = (machine: string): Promise<string> => createTokenByHand(userId, machine, operator);

describe("/devices", () => {
  test("a token created by hand is shown once, works, and is refused after it is revoked", async () => {
    const token = await tokenByHand("build-server");
    expect(await sessionStatus(token)).toBe(200);
    expect(page.url()).not.toContain("spoor_");
    await page.reload();
    expect(await page.content()).not.toContain(token);
    const row = page.getByRole("listitem").filter({ hasText: "build-server" }).first();
    await row.getByText("last heard").waitFor();
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
    const [kept, revoked] = [await makeToken("kept-machine"), await makeToken("old-machine")];
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

  test("a token by hand uploads and reads unless the person ticks otherwise, and the list says what each may", async () => {
    const readScopes = async (token: string) => (await (await get(server, "/api/cli/session", token)).json()).scopes;
    expect(await readScopes(await tokenByHand("usual"))).toEqual(["ingest", "read"]);
    await open("/devices");
    await field("Machine").fill("cleaner");
    for (const name of [/^Upload/, /^Read/]) await page.getByRole("checkbox", { name }).uncheck();
    await button("Create token").click();
    await page.getByText("Tick at least one thing").waitFor();
    expect(await field("Machine").inputValue()).toBe("cleaner");
    await page.getByRole("checkbox", { name: /^Delete/ }).check();
    await button("Create token").click();
    const token = String(await page.locator("pre", { hasText: /^spoor_/ }).textContent()).trim();
    expect(await readScopes(token)).toEqual(["delete"]);
    const rows = page.getByRole("list", { name: "Machines" }).getByRole("listitem");
    await rows.filter({ hasText: "cleaner" }).getByText("may delete", { exact: true }).waitFor();
    await rows.filter({ hasText: "usual" }).getByText("may upload and read", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("all tokens are revoked together", async () => {
    const tokens = [await makeToken("one"), await makeToken("two")];
    await open("/devices");
    await page.locator("summary", { hasText: "Revoke every token" }).click();
    await button("Revoke all").click();
    await page.getByText("No machine is connected").waitFor();
    expect(await Promise.all(tokens.map(sessionStatus))).toEqual([401, 401]);
  });
});

const box = (name: RegExp) => page.getByRole("checkbox", { name });
const ticks = async () => Promise.all([/^Upload/, /^Read/, /^Delete/, /^Store/].map((name) => box(name).isChecked()));

describe("what is granted", () => {
  test("is what the client asked for: deleting and exact copies are ticked only where it asked", async () => {
    const [usual, all, reader, copies] = [
      await startLogin("usual"),
      await startLogin("all", { scopes: ["delete", "ingest", "read"] }),
      await startLogin("reader", { scopes: ["read"] }),
      await startLogin("copies", { scopes: ["originals", "ingest"] }),
    ];
    for (const [login, ticked, granted] of [
      [usual, [true, true, false, false], ["ingest", "read"]],
      [all, [true, true, true, false], ["ingest", "read", "delete"]],
      [reader, [false, true, false, false], ["read"]],
      [copies, [true, false, false, true], ["ingest", "originals"]],
    ] as const) {
      await page.goto(login.verificationUriComplete);
      await page.getByText("The machine can then").waitFor();
      await page.getByText("For 90 days, or until you revoke it").waitFor();
      expect(await ticks()).toEqual(ticked);
      expect(await page.getByText("asks to delete sessions").count()).toBe(login === all ? 1 : 0);
      expect(await page.getByText("a key that this server does not have").count()).toBe(login === copies ? 1 : 0);
      await button("Approve").click();
      await page.getByText("Return to your terminal").waitFor();
      expect(await grantedTo(login.deviceCode)).toEqual(granted);
    }
    expect(faults).toEqual([]);
  });

  test("is what the person ticks: at least one thing, and a link can't tick more", async () => {
    const login = await startLogin("careful");
    await page.goto(`${login.verificationUriComplete}&retry=scopes&ticked=delete,read`);
    expect(await ticks()).toEqual([false, true, false, false]);
    await page.goto(login.verificationUriComplete);
    await box(/^Upload/).uncheck();
    await box(/^Read/).uncheck();
    await button("Approve").click();
    await page.getByText("Tick at least one").waitFor();
    expect((await poll(login.deviceCode)).status).toBe(202);
    expect(await ticks()).toEqual([false, false, false, false]);
    await box(/^Upload/).check();
    await button("Approve").click();
    await page.getByText("Return to your terminal").waitFor();
    expect(await grantedTo(login.deviceCode)).toEqual(["ingest"]);
  });
});

const elsewhere = (scopes?: string[]) => startLogin("far-away", { from: someAddress(), ...(scopes ? { scopes } : {}) });

describe("a login from another network", () => {
  const shows = async (code: string) => {
    const seen = (await page.content()) + page.url();
    return seen.includes(code) || seen.includes(code.replace("-", ""));
  };

  test("is shown without its code, which has to be typed, and keeps what was unticked", async () => {
    const login = await elsewhere(["ingest", "read", "delete"]);
    await page.goto(login.verificationUriComplete);
    await page.getByText("a different network").waitFor();
    for (const shown of ["far-away", "not verified", owner.email]) await page.getByText(shown).first().waitFor();
    expect(await shows(login.userCode)).toBe(false);
    expect(await field("Code").inputValue()).toBe("");
    await box(/^Delete/).uncheck();
    await field("Code").fill("BCDF-GHJK");
    await button("Approve").click();
    await page.getByText("not the code of this login").waitFor();
    expect(await shows(login.userCode)).toBe(false);
    expect(await ticks()).toEqual([true, true, false, false]);
    expect((await poll(login.deviceCode)).status).toBe(202);
    await field("Code").fill(login.userCode.toLowerCase().replace("-", " "));
    await button("Approve").click();
    await page.getByText("Return to your terminal").waitFor();
    expect(await grantedTo(login.deviceCode)).toEqual(["ingest", "read"]);
    expect(faults).toEqual([]);
  });

  test("is denied without its code", async () => {
    const login = await elsewhere();
    await page.goto(login.verificationUriComplete);
    await button("Deny").click();
    await page.getByText("Denied").first().waitFor();
    expect((await poll(login.deviceCode)).status).toBe(403);
  });

  test("whose code was typed on the page for it is approved without typing it again", async () => {
    const login = await elsewhere();
    await open("/device");
    await field("Code").fill(login.userCode);
    await button("Continue").click();
    await page.getByText("a different network").waitFor();
    expect(await field("Code").count()).toBe(0);
    expect(await shows(login.userCode)).toBe(false);
    await button("Approve").click();
    await page.getByText("Return to your terminal").waitFor();
    expect((await poll(login.deviceCode)).status).toBe(200);
  });

  test("opened with the ticket of another sign-in, or a made-up one, shows nothing", async () => {
    const login = await elsewhere();
    await page.goto(login.verificationUriComplete);
    const other = await stranger();
    await signIn(other, server, owner);
    const address = new URL(page.url());
    for (const ticket of [address.searchParams.get("ticket") ?? "", "AAAA"]) {
      address.searchParams.set("ticket", ticket);
      await other.goto(address.href);
      await other.getByText("belongs to another sign-in").waitFor();
      expect(await other.content()).not.toContain("far-away");
    }
    await other.context().close();
  });

  test("whose browser came to another network after the page was rendered has to type the code as well", async () => {
    const login = await startLogin("moving");
    await page.goto(login.verificationUriComplete);
    await page.context().setExtraHTTPHeaders({ "X-Forwarded-For": someAddress() });
    try {
      await button("Approve").click();
      await page.getByText("a different network").waitFor();
      expect((await poll(login.deviceCode)).status).toBe(202);
      await field("Code").fill(login.userCode);
      await button("Approve").click();
      await page.getByText("Return to your terminal").waitFor();
    } finally {
      await page.context().setExtraHTTPHeaders({});
    }
    expect((await poll(login.deviceCode)).status).toBe(200);
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
      await page.getByText("belongs to another sign-in").waitFor();
      expect((await get(server, `/api/cli/device/poll?deviceCode=${mine.deviceCode}`)).status).toBe(202);
    }
  });

  /** Posts an approval form as a browser without JavaScript does, with chosen headers, by a chosen browser. */
  async function postForm(
    html: string,
    login: Awaited<ReturnType<typeof startLogin>>,
    headers: Record<string, string>,
    by = page,
  ) {
    const multipart = getFields(html, "approve");
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

// The last: the person stays blocked.
test("a login from another network takes ten wrong codes, and then for ten minutes not even the right one", async () => {
  const login = await elsewhere();
  // One was typed in the tests before.
  for (let wrong = 1; wrong < 10; wrong += 1) {
    await page.goto(login.verificationUriComplete);
    await field("Code").fill("BCDF-GHJK");
    await button("Approve").click();
    await page.getByText("not the code of this login").waitFor();
  }
  await field("Code").fill(login.userCode);
  await button("Approve").click();
  await page.getByRole("heading", { name: "Too many codes" }).waitFor();
  expect((await poll(login.deviceCode)).status).toBe(202);
});
