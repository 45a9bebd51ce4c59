import { expect, test } from "vitest";
import { listEvents } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { pool } from "#lib/db/client";
import { plainBrowser } from "../support/plain-browser.ts";
import { owner, provideOwnedServer } from "../support/server.ts";
import { totp } from "../support/totp.ts";

const { server, userId, token } = await provideOwnedServer({
  worker: false,
  environment: { AUTH_RATE_LIMIT: "on", SIGN_UP: "open" },
});

const { secret, codes } = await turnSecondFactorOn();

/** As the settings do, but for the first code: it would be spent. */
async function turnSecondFactorOn(): Promise<{ secret: string; codes: string[] }> {
  const { headers } = await auth().api.signInEmail({ body: owner, returnHeaders: true });
  const cookie = headers.getSetCookie().map((set) => set.split(";")[0]);
  const body = { password: owner.password };
  const answer = await auth().api.enableTwoFactor({ body, headers: new Headers({ Cookie: cookie.join("; ") }) });
  if (answer.method !== "totp") throw new Error("this is no authenticator app");
  await pool().query("update two_factor set verified = true");
  await pool().query(`update "user" set two_factor_enabled = true`);
  return { secret: new URL(answer.totpURI).searchParams.get("secret") ?? "", codes: answer.backupCodes };
}

/** A browser that has sent the right password. */
async function afterPassword(browser = plainBrowser(server), password = owner.password) {
  const { status, text } = await browser.post("/api/auth/sign-in/email", { email: owner.email, password });
  expect(status).toBe(200);
  return { browser, asksForCode: text.includes("twoFactorRedirect") };
}

const verify = async (way: "totp" | "backup-code", body: object) => {
  const { browser } = await afterPassword();
  return { browser, ...(await browser.post(`/api/auth/two-factor/verify-${way}`, body)) };
};

/** Four browsers that send one code at once; their passwords came one after another, as many as are hashed in time. */
async function verifyAtOnce(way: "totp" | "backup-code", body: object) {
  const browsers = [];
  for (let n = 0; n < 4; n += 1) browsers.push((await afterPassword()).browser);
  return Promise.all(browsers.map((browser) => browser.post(`/api/auth/two-factor/verify-${way}`, body)));
}

const countOk = (answers: { status: number }[]) => answers.filter(({ status }) => status === 200).length;

test("a code of an authenticator app signs in once, later and at once", async ({ annotate }) => {
  const code = totp(secret);
  const later = [];
  for (let n = 0; n < 3; n += 1) later.push(await verify("totp", { code }));
  const atOnce = await verifyAtOnce("totp", { code: totp(secret, Date.now() + 30_000) });
  expect([countOk(later), countOk(atOnce)]).toEqual([1, 1]);
  await annotate(`one code three times: ${countOk(later)} sign-in; four times at once: ${countOk(atOnce)}`);
});

test("a recovery code signs in once, at once as well", async ({ annotate }) => {
  const answers = await verifyAtOnce("backup-code", { code: codes[0] });
  expect(countOk(answers)).toBe(1);
  await annotate(`one recovery code four times at once: ${countOk(answers)} sign-in`);
});

test("a trusted browser is asked for the second factor again after a change of password", async ({ annotate }) => {
  const { browser, status } = await verify("backup-code", { code: codes[1], trustDevice: true });
  expect(status).toBe(200);
  expect(await afterPassword(browser)).toMatchObject({ asksForCode: false });
  const password = "a better password for tests";
  const change = { current_code: codes[5] ?? "", current_password: owner.password, new_password: password };
  const changed = await browser.submit("/settings", "Change password", change);
  expect(changed.location).toBe("/settings?changed=password");
  owner.password = password;
  expect(browser.has("authlib.trust_device")).toBe(true);
  expect(await afterPassword(browser)).toMatchObject({ asksForCode: true });
  await annotate("asked again, though the browser still has its cookie");
});

const weak = ["1234567890", "password1234", "aaaaaaaaaaaaaaaa", "qwertyuiopasdf", "eve4@example.org1", "Spoor12345678"];
const good = ["correct horse battery", "test-password-123"];

test("a weak password opens no account", async ({ annotate }) => {
  const signUp = async (password: string, n: number) => {
    const fields = { name: "Eve", email: `eve${n}@example.org`, password };
    const { location, text } = await plainBrowser(server).submit("/sign-up", "Create account", fields);
    return location === null && text.includes('id="password-error"') ? "refused" : location;
  };
  expect(await Promise.all(weak.map(signUp))).toEqual(weak.map(() => "refused"));
  expect(await Promise.all(good.map(signUp))).toEqual(good.map(() => "/traces"));
  const { rows } = await pool().query<{ users: number }>(`select count(*)::int as users from "user"`);
  expect(rows[0]?.users).toBe(1 + good.length);
  await annotate(`${weak.length} of ${weak.length} refused, of ${good.length} good ones none`);
});

test("a browser that was left open guesses the password ten times, on whichever page", async ({ annotate }) => {
  const { browser } = await verify("backup-code", { code: codes[2] });
  const pages: [path: string, button: string, field: string][] = [
    ["/settings/two-factor", "Turn off", "account_password"],
    ["/settings/delete", "Delete account", "account_password"],
    ["/settings", "Change password", "current_password"],
  ];
  let [wrong, blocked] = [0, 0];
  for (let n = 0; n < 12; n += 1) {
    const [path = "", button = "", field = ""] = pages[n % pages.length] ?? [];
    // A code is there too, since both are asked for; it is not looked at before the password is right.
    const code = { account_code: codes[4] ?? "", current_code: codes[4] ?? "" };
    const fields = { [field]: `guess ${n}`, ...code, new_password: "a better password for tests" };
    const { text } = await browser.submit(path, button, fields);
    if (text.includes("This is not your password.")) wrong += 1;
    if (text.includes("Too many wrong attempts.")) blocked += 1;
  }
  expect([wrong, blocked]).toEqual([10, 2]);
  await annotate(`of 12 guesses ${wrong} were checked, and ${blocked} refused unchecked`);
  await pool().query("delete from rate_limit");
});

test("a form that turns the second factor on checks no password once it is on", async ({ annotate }) => {
  const [path, button] = ["/settings/two-factor", "Turn on"];
  const { browser } = await verify("backup-code", { code: codes[6] });
  const isOn = (on: boolean) => pool().query(`update "user" set two_factor_enabled = $2 where id = $1`, [userId, on]);
  await isOn(false);
  const form = await browser.open(path, button);
  await isOn(true);
  const stored = await pool().query("select password from account where user_id = $1", [userId]);
  // Whoever checks a password fails at this.
  await pool().query("update account set password = 'no hash' where user_id = $1", [userId]);
  const answers = [];
  for (let n = 0; n < 12; n += 1) answers.push(await browser.sendForm(path, form, { account_password: `guess ${n}` }));
  await pool().query("update account set password = $2 where user_id = $1", [userId, stored.rows[0]?.password]);
  expect(new Set(answers.map(({ location }) => location))).toEqual(new Set([path]));
  await annotate(`${answers.length} of ${answers.length} were led to where the code is asked for, none was checked`);
});

test("what opens the account or takes data from it is in the trail", async ({ annotate }) => {
  const { browser } = await verify("backup-code", { code: codes[3] });
  const change = (button: string, account_password: string) =>
    browser.submit("/settings/two-factor", button, { account_password, account_code: codes[4] ?? "" });
  await browser.submit("/settings/two-factor", "Turn off", { account_password: owner.password });
  expect((await browser.post("/api/auth/two-factor/verify-totp", { code: "000000" })).status).toBe(401);
  await change("Create new recovery codes", "not the password");
  await change("Create new recovery codes", owner.password);
  await browser.submit("/settings/sign-ins", "Sign out all others", {});
  await browser.send("/api/traces/export");
  const exported = await fetch(`${server.url}/api/traces/export?source=none`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(exported.status).toBe(200);
  const actions = (await listEvents(userId, { limit: 6 })).map(({ action }) => action);
  expect(actions).toEqual([
    "traces_exported",
    "traces_exported",
    "other_sessions_revoked",
    "recovery_codes_created",
    "reauthentication_failed",
    "reauthentication_failed",
  ]);
  await browser.post("/api/auth/sign-out", {});
  expect((await listEvents(userId, { limit: 1 }))[0]?.action).toBe("signed_out");
  await annotate("7 of 7 events");
});
