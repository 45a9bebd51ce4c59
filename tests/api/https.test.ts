import { expect, test } from "vitest";
import { pool } from "#lib/db/client";
import { getCookies } from "../support/form.ts";
import { get, owner, post, provideOwnedServer } from "../support/server.ts";

const BASE_URL = "https://spoor.example.org";
// Two settings of one server: neither touches the other's tests.
const environment = { BASE_URL, REQUIRE_SECOND_FACTOR: "on" };
const { server, token } = await provideOwnedServer({ worker: false, environment });

const signIn = (origin: string) =>
  post(server, "/api/auth/sign-in/email", { email: owner.email, password: owner.password }, { Origin: origin });

test("the session cookie is Secure, HttpOnly and SameSite=Lax where BASE_URL is https", async () => {
  const response = await signIn(BASE_URL);
  expect(response.status).toBe(200);
  const cookies = response.headers.getSetCookie();
  expect(cookies[0]).toMatch(/^authlib\.session_token=.{20}/);
  for (const cookie of cookies) {
    const names = cookie.split("; ").map((one) => one.toLowerCase());
    expect(names).toEqual(expect.arrayContaining(["secure", "httponly", "samesite=lax", "path=/"]));
  }
});

test("a sign-in from the http origin of the same host is refused", async () => {
  expect((await signIn(BASE_URL.replace("https:", "http:"))).status).toBe(403);
});

test("where a second factor is required, nothing but its page opens without one, and CLI tokens keep working", async () => {
  const Cookie = getCookies(await signIn(BASE_URL));
  const ask = (path: string, headers: Record<string, string> = { Cookie }) =>
    fetch(server.url + path, { redirect: "manual", headers });
  for (const path of ["/traces?q=x", "/devices", "/device", "/settings", "/settings/delete"]) {
    const answer = await ask(path);
    const text = `${answer.headers.get("location")} ${await answer.text()}`;
    expect([path, text]).toEqual([
      path,
      expect.stringContaining(`/settings/two-factor?next=${encodeURIComponent(path)}`),
    ]);
  }
  expect(await (await ask("/settings/two-factor?next=%2Fdevices")).text()).toContain("This server requires two-factor");
  for (const path of ["/api/traces", "/api/traces/export"]) {
    const refused = await ask(path);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      error: "access_denied",
      detail: expect.stringContaining("second factor"),
    });
  }
  expect((await get(server, "/api/traces", token)).status).toBe(200);
  await pool().query(`update "user" set two_factor_enabled = true`);
  expect([(await ask("/devices")).status, (await ask("/api/traces")).status]).toEqual([200, 200]);
  expect(await (await ask("/settings/two-factor")).text()).not.toContain(">Turn off<");
});
