import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { provideBrowser, signIn, signInByForm } from "../support/browser.ts";
import { get, ingest, owner, post, provideServer, setupToken, someAddress } from "../support/server.ts";

const server = await provideServer();
const { browser, page, faults, button, field } = await provideBrowser();
const context = page.context();

async function startLogin(machine = "ada-laptop", headers: Record<string, string> = {}) {
  const response = await post(server, "/api/cli/device/start", { machine }, headers);
  return (await response.json()) as { deviceCode: string; userCode: string; verificationUriComplete: string };
}

const poll = (deviceCode: string) => get(server, `/api/cli/device/poll?deviceCode=${deviceCode}`);

async function fixtures(): Promise<{ title?: string; sourceId: string }[]> {
  const folder = "tests/fixtures/sessions";
  const names = (await readdir(folder)).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8"))));
}

describe("a stranger's first hour", () => {
  test("a wrong set-up link creates no account and says how to get a new one", async () => {
    await page.goto(`${server.url}/setup?token=a-wrong-token-for-this`);
    expect(await button("Create account").count()).toBe(0);
    await page.getByText(/no longer/i).waitFor();
    expect((await pool().query(`select 1 from "user"`)).rowCount).toBe(0);
  });

  test("the set-up link creates the owner's account, signs in, and shows how to connect a machine", async () => {
    await page.goto(`${server.url}/setup?token=${encodeURIComponent(setupToken)}`);
    await field("Name").fill(owner.name);
    await field("Email").fill(owner.email);
    await field("Password").fill("short");
    await button("Create account").click();
    await page.locator("input[type=password][aria-invalid=true]").waitFor();
    await field("Password").fill(owner.password);
    await button("Create account").click();
    await page.waitForURL(`${server.url}/traces`);
    await page.getByText(`curl -fsSO ${server.url}/spoor.mjs`).first().waitFor();
    const [cookie] = (await context.cookies()).filter(({ name }) => name === "authlib.session_token");
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", secure: false });
    expect(faults).toEqual([]);
  });

  test("the set-up link works once", async () => {
    await page.goto(`${server.url}/setup?token=${encodeURIComponent(setupToken)}`);
    expect(await button("Create account").count()).toBe(0);
  });

  test("approving shows what is approved, and the waiting client gets its token once", async () => {
    const login = await startLogin("<b>ada</b>-laptop");
    expect((await poll(login.deviceCode)).status).toBe(202);
    await page.goto(login.verificationUriComplete);
    for (const shown of ["<b>ada</b>-laptop", "not verified", login.userCode, owner.email]) {
      await page.getByText(shown).first().waitFor();
    }
    expect((await poll(login.deviceCode)).status).toBe(202);
    await button("Approve").click();
    await page.getByText("Return to your terminal").waitFor();
    const approved = await poll(login.deviceCode);
    expect(approved.status).toBe(200);
    expect(await approved.json()).toMatchObject({
      tokenType: "Bearer",
      user: { name: owner.name, email: owner.email },
    });
    expect((await poll(login.deviceCode)).status).toBe(409);
    expect(faults).toEqual([]);
  });

  test("denying ends the login", async () => {
    const login = await startLogin();
    await page.goto(login.verificationUriComplete);
    await button("Deny").click();
    await page.getByText("Denied").first().waitFor();
    expect((await poll(login.deviceCode)).status).toBe(403);
  });

  test("the code can be typed in any case and spacing", async () => {
    const login = await startLogin();
    await page.goto(`${server.url}/device`);
    await field("Code").fill(` ${login.userCode.toLowerCase().replace("-", " ")} `);
    await button("Continue").click();
    await button("Deny").waitFor();
    await page.goto(`${server.url}/device`);
    await field("Code").fill("AAAA-AAAA");
    await button("Continue").click();
    await page.getByText("no login with this code").waitFor();
  });

  test("from a different network the code must be typed correctly", async () => {
    const login = await startLogin("far-away", { "X-Forwarded-For": someAddress() });
    await page.goto(login.verificationUriComplete);
    await page.getByText("a different network").waitFor();
    await field("Code").fill("BCDF-GHJK");
    await button("Approve").click();
    await page.getByText("not the code of this login").waitFor();
    expect((await poll(login.deviceCode)).status).toBe(202);
    await field("Code").fill(login.userCode);
    await button("Approve").click();
    await page.getByText("Return to your terminal").waitFor();
    expect((await poll(login.deviceCode)).status).toBe(200);
  });

  test("signing in on the way returns to the approval, which shows nothing of the login before", async () => {
    const login = await startLogin("secret-machine");
    const stranger = await browser.newContext();
    const other = await stranger.newPage();
    await other.goto(login.verificationUriComplete);
    expect(new URL(other.url()).pathname).toBe("/sign-in");
    expect(await other.content()).not.toContain("secret-machine");
    await field("Email", other).fill(owner.email);
    await field("Password", other).fill("wrong password");
    await button("Sign in", other).click();
    await other.getByText("Email or password is wrong.").first().waitFor();
    await field("Password", other).fill(owner.password);
    await button("Sign in", other).click();
    await other.getByText("secret-machine").waitFor();
    await stranger.close();
  });

  test("what a client sends appears on the pages as it was sent, and stored markup stays text", async () => {
    const login = await startLogin();
    await page.goto(login.verificationUriComplete);
    await button("Approve").click();
    await page.getByText("Return to your terminal").waitFor();
    const { token } = await (await poll(login.deviceCode)).json();
    const sent = await fixtures();
    expect(await ingest(server, token, sent)).toMatchObject({ traces: { created: sent.length } });

    faults.length = 0;
    await page.goto(`${server.url}/traces`);
    for (const { title } of sent.filter((trace) => trace.title))
      await page
        .getByText(title ?? "")
        .first()
        .waitFor();
    await page.goto(`${server.url}/uploads`);
    await page.getByText("ada-laptop").first().waitFor();

    const { rows } = await pool().query<{ id: string; messages: string[] }>(
      `select trace_id as id, array_agg(content) as messages from message
       where content like '%<script>%' group by trace_id limit 1`,
    );
    await page.goto(`${server.url}/traces/${rows[0]?.id}`);
    const text = (await page.locator("main").textContent()) ?? "";
    expect(text).toContain("<script>");
    expect(faults).toEqual([]);
  });

  test("a session is deleted permanently after confirmation", async () => {
    const { rows } = await pool().query<{ id: string }>("select id from trace where deleted_at is null limit 1");
    await page.goto(`${server.url}/traces/${rows[0]?.id}`);
    const open = () => pool().query("select 1 from trace where id = $1 and deleted_at is null", [rows[0]?.id]);
    await page.getByLabel("More about this session").click();
    await button("Delete").click();
    await page.getByText("It won’t be uploaded again").waitFor();
    expect((await open()).rowCount).toBe(1);
    await button("Delete").click();
    await page.waitForURL(/\/traces(\?.*)?$/);
    const after = await pool().query("select 1 from message where trace_id = $1", [rows[0]?.id]);
    expect(after.rowCount).toBe(0);
    expect((await page.goto(`${server.url}/traces/${rows[0]?.id}`))?.status()).toBe(404);
  });

  test("signing out ends the sign-in, and the browser forgets what was searched", async () => {
    const leaving = await browser.newContext();
    const other = await leaving.newPage();
    await signIn(other, server, owner);
    const kept = () => other.evaluate(() => Object.entries(localStorage));
    await other.goto(`${server.url}/traces?q=retry`);
    const { rows } = await pool().query<{ id: string }>(`select id from "user" where email = $1`, [owner.email]);
    await expect.poll(kept).toEqual([[`spoor.searches.${rows[0]?.id}`, '["retry"]']]);
    await other.locator("summary", { hasText: owner.name }).first().click();
    await button("Sign out", other).click();
    await other.waitForURL(/\/sign-in/);
    await expect.poll(kept).toEqual([]);
    await other.goto(`${server.url}/traces`);
    expect(new URL(other.url()).pathname).toBe("/sign-in");
    await leaving.close();
  });
});

test("login, approval and reading work without any script", async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const other = await plain.newPage();
  await signInByForm(other, server, owner);
  const login = await startLogin("no-script");
  await other.goto(login.verificationUriComplete);
  await button("Approve", other).click();
  await other.getByText("Return to your terminal").waitFor();
  expect((await poll(login.deviceCode)).status).toBe(200);
  await other.goto(`${server.url}/traces`);
  await other.locator("main a[data-row]").first().click();
  expect(new URL(other.url()).pathname).toMatch(/^\/traces\/[0-9a-f-]{36}$/);
  await plain.close();
});
