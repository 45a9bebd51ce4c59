import { expect, test } from "vitest";
import { owner, post, provideOwnedServer } from "../support/server.ts";

const BASE_URL = "https://spoor.example.org";
const { server } = await provideOwnedServer({ worker: false, environment: { BASE_URL } });

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
