import { afterEach, describe, expect, test, vi } from "vitest";
import { signUp } from "#lib/auth/accounts";
import { listEvents, operator } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { disconnectProvider } from "#lib/auth/sign-in/providers";
import { endTrust } from "#lib/auth/sign-in/second-factor";
import { isRecent, listSignIns } from "#lib/auth/sign-in/sign-ins";
import { setEnv } from "#lib/core/env";
import { closeDatabase, pool, prisma } from "#lib/db/client";
import { makeUser, owner, provideOwner } from "../support/server.ts";
import { totp } from "../support/totp.ts";

const { userId } = await provideOwner();
setEnv({ SIGN_UP: "open", GITHUB_CLIENT_ID: "ours", GITHUB_CLIENT_SECRET: "secret" });
await closeDatabase(); // with which better-auth was made, for the owner, without providers

const base = "http://localhost:3000";
const events = async (id: string, limit: number) =>
  (await listEvents(id, { limit })).map(({ action, subject }) => [action, subject]);

/** GitHub's answers about a person. */
function stubGitHub(id: number, email: string): void {
  vi.stubGlobal("fetch", async (input: RequestInfo | URL) => {
    const url = String(input instanceof Request ? input.url : input);
    if (url.includes("access_token")) return Response.json({ access_token: "t", token_type: "bearer", scope: "user" });
    if (url.endsWith("/user/emails")) return Response.json([{ email, primary: true, verified: true }]);
    if (url.endsWith("/user")) return Response.json({ id, login: "ada", name: "Ada", email });
    throw new Error(`nothing is known of ${url}`);
  });
}

afterEach(() => vi.unstubAllGlobals());

/** Turns the second factor on. @returns its secret */
async function enrol(Cookie: string): Promise<string> {
  const headers = new Headers({ Cookie });
  const enabled = await auth().api.enableTwoFactor({ body: { password: owner.password }, headers });
  const secret = new URL("totpURI" in enabled ? enabled.totpURI : "").searchParams.get("secret") ?? "";
  await auth().api.verifyTOTP({ body: { code: totp(secret) }, headers });
  return secret;
}

const getCookie = (headers: Headers) =>
  headers
    .getSetCookie()
    .map((set) => set.split(";")[0])
    .join("; ");

/** Comes back from GitHub to the address that an answer began. */
function comeBack(
  started: { headers: Headers; response: { url?: string | undefined } },
  cookie = "",
): Promise<Response> {
  const state = new URL(started.response.url ?? "").searchParams.get("state");
  const Cookie = [getCookie(started.headers), cookie].filter(Boolean).join("; ");
  const headers = { Cookie, "X-Forwarded-For": "192.0.2.7" };
  return auth().handler(new Request(`${base}/api/auth/callback/github?code=c&state=${state}`, { headers }));
}

async function signedIn(): Promise<string> {
  return getCookie((await auth().api.signInEmail({ body: owner, returnHeaders: true })).headers);
}

async function startToLink(cookie: string) {
  const body = { provider: "github" as const, callbackURL: "/settings", disableRedirect: true };
  return auth().api.linkSocialAccount({ body, headers: new Headers({ Cookie: cookie }), returnHeaders: true });
}

describe("a provider", () => {
  test("does not stand for the second factor, which opens what the sign-in was to open", async () => {
    stubGitHub(4, owner.email);
    const cookie = await signedIn();
    await comeBack(await startToLink(cookie), cookie);
    const secret = await enrol(cookie);
    await pool().query("delete from session");
    const begin = () =>
      auth().api.signInSocial({
        body: { provider: "github", callbackURL: "/traces?q=x", disableRedirect: true },
        returnHeaders: true,
      });
    const answer = await comeBack(await begin());
    expect([answer.status, answer.headers.get("location")]).toEqual([
      302,
      "/sign-in/second-factor?next=%2Ftraces%3Fq%3Dx",
    ]);
    expect(answer.headers.getSetCookie().join()).not.toMatch(/session_token=[^;]/);
    expect((await pool().query("select 1 from session")).rowCount).toBe(0);
    const body = { code: totp(secret, Date.now() + 30_000), trustDevice: true };
    const headers = new Headers({ Cookie: getCookie(answer.headers) });
    const verified = await auth().api.verifyTOTP({ body, headers, returnHeaders: true });
    expect(verified.headers.getSetCookie().join()).toMatch(/session_token=[^;]/);
    expect(await events(userId, 3)).toEqual([
      ["browser_trusted", null],
      ["signed_in", null],
      ["provider_accepted", "GitHub"],
    ]);
    // A browser that was trusted to skip the second factor skips it here too.
    const trusted = await comeBack(await begin(), getCookie(verified.headers));
    expect(trusted.headers.get("location")).toBe("/traces?q=x");
    await pool().query("delete from two_factor");
    await pool().query(`update "user" set two_factor_enabled = false`);
    await pool().query("delete from account where provider_id = 'github'");
  });

  test("that is connected, signed in with and disconnected is in the trail each time", async () => {
    stubGitHub(1, owner.email);
    const cookie = await signedIn();
    expect((await comeBack(await startToLink(cookie), cookie)).headers.get("location")).toBe("/settings");
    const started = await auth().api.signInSocial({
      body: { provider: "github", callbackURL: "/traces", disableRedirect: true },
      returnHeaders: true,
    });
    expect((await comeBack(started)).headers.getSetCookie().join()).toContain("authlib.session_token=");
    expect(await disconnectProvider(userId, "github", operator)).toBe(true);
    expect(await events(userId, 3)).toEqual([
      ["provider_unlinked", "GitHub"],
      ["signed_in", "with GitHub"],
      ["provider_linked", "GitHub"],
    ]);
  });

  test("that somebody began to connect before a change of the password is not connected after it", async () => {
    stubGitHub(2, owner.email);
    const cookie = await signedIn();
    const started = await startToLink(cookie);
    await endTrust(prisma(), userId);
    await comeBack(started, cookie);
    const { rowCount } = await pool().query("select 1 from account where user_id = $1 and account_id = '2'", [userId]);
    expect(rowCount).toBe(0);
  });

  test("that makes an account is in its trail, and is not disconnected while it is the only way in", async () => {
    stubGitHub(3, "grace@example.org");
    const body = { provider: "github" as const, callbackURL: "/traces", disableRedirect: true };
    await comeBack(await auth().api.signInSocial({ body, returnHeaders: true }));
    const { rows } = await pool().query<{ id: string }>(`select id from "user" where email = 'grace@example.org'`);
    const grace = rows[0]?.id ?? "";
    expect((await events(grace, 3)).map(([action]) => action).toSorted()).toEqual([
      "account_created",
      "provider_linked",
      "signed_in",
    ]);
    expect(await disconnectProvider(grace, "github", operator)).toBe(false);
    expect((await pool().query("select 1 from account where user_id = $1", [grace])).rowCount).toBe(1);
  });
});

test("of two providers that are disconnected at once, one stays", async () => {
  setEnv({ GOOGLE_CLIENT_ID: "ours", GOOGLE_CLIENT_SECRET: "secret" });
  const both = await makeUser({ name: "Both", email: "both@example.org", password: "" });
  for (const provider of ["github", "google"]) {
    await pool().query("insert into account (user_id, provider_id, account_id) values ($1, $2, $2)", [both, provider]);
  }
  const ended = await Promise.all(
    (["github", "google"] as const).map((provider) => disconnectProvider(both, provider, operator)),
  );
  expect(ended.toSorted()).toEqual([false, true]);
});

test("a sign-in is recent for ten minutes, and only its own user's", async () => {
  await signedIn();
  const [{ id } = { id: "" }] = await listSignIns(userId);
  expect([await isRecent(userId, id), await isRecent(crypto.randomUUID(), id)]).toEqual([true, false]);
  await pool().query("update session set created_at = now() - interval '11 minutes' where id = $1", [id]);
  expect(await isRecent(userId, id)).toBe(false);
  await pool().query("update session set created_at = now() + interval '1 day' where id = $1", [id]); // by a clock that was ahead
  expect(await isRecent(userId, id)).toBe(false);
});

test("a weak password makes no account, and the invitation stays open", async () => {
  const account = { name: "Eve", email: "eve@example.org", password: "1234567890" };
  await expect(signUp(account, undefined, operator)).rejects.toMatchObject({
    code: "invalid_request",
    errors: [{ path: "password", message: expect.stringMatching(/^Too easy to guess/) }],
  });
});
