import { beforeEach, describe, expect, test } from "vitest";
import { resetPassword } from "#lib/auth/accounts";
import { listEvents, operator } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { endSignIns } from "#lib/auth/sign-in/sign-ins";
import { pool } from "#lib/db/client";
import { owner, provideOwner } from "../support/server.ts";
import { totp } from "../support/totp.ts";

const { userId } = await provideOwner();
const halfMinute = 30_000;

/** Cookies as a browser keeps them, beside calls of better-auth. */
function cookieJar() {
  const kept = new Map<string, string>();
  return {
    headers: () => new Headers({ Cookie: [...kept].map(([name, value]) => `${name}=${value}`).join("; ") }),
    keep: (headers: Headers) => {
      for (const set of headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        kept.set(name, value);
      }
    },
    drop: (name: string) => kept.delete(name),
  };
}

type Jar = ReturnType<typeof cookieJar>;

/** The first step of a sign-in. @returns whether the second one is asked for */
async function password(jar: Jar): Promise<boolean> {
  const { headers, response } = await auth().api.signInEmail({
    body: owner,
    headers: jar.headers(),
    returnHeaders: true,
  });
  jar.keep(headers);
  return "twoFactorRedirect" in response;
}

async function code(jar: Jar, typed: string, trustDevice = false): Promise<void> {
  const body = { code: typed, trustDevice };
  jar.keep((await auth().api.verifyTOTP({ body, headers: jar.headers(), returnHeaders: true })).headers);
}

async function recover(jar: Jar, typed = ""): Promise<void> {
  const body = { code: typed };
  jar.keep((await auth().api.verifyBackupCode({ body, headers: jar.headers(), returnHeaders: true })).headers);
}

const refused = (name: string) => expect.objectContaining({ body: expect.objectContaining({ code: name }) });
const newest = async (limit: number) => (await listEvents(userId, { limit })).map(({ action }) => action);

/** Turns the second factor on with the code of the step before the current one. */
async function enrol() {
  const jar = cookieJar();
  await password(jar);
  const answer = await auth().api.enableTwoFactor({ body: { password: owner.password }, headers: jar.headers() });
  if (answer.method !== "totp") throw new Error("this is no authenticator app");
  const secret = new URL(answer.totpURI).searchParams.get("secret") ?? "";
  const first = totp(secret, Date.now() - halfMinute);
  await code(jar, first);
  return { jar, secret, first, codes: answer.backupCodes };
}

/** As `enrol`, with a second browser that is trusted. */
async function enrolAndTrust() {
  const enrolled = await enrol();
  const trusted = cookieJar();
  await password(trusted);
  await code(trusted, totp(enrolled.secret), true);
  expect(await password(trusted)).toBe(false);
  return { ...enrolled, trusted };
}

beforeEach(async () => {
  await pool().query("delete from two_factor");
  await pool().query(`update "user" set two_factor_enabled = false`);
});

describe("a code of an authenticator app", () => {
  test("that turned the second factor on is spent, and so is any older one", async () => {
    const { secret, first } = await enrol();
    const jar = cookieJar();
    expect(await password(jar)).toBe(true);
    await expect(code(jar, first)).rejects.toEqual(refused("INVALID_CODE"));
    await code(jar, totp(secret, Date.now() + halfMinute));
    await password(jar);
    await expect(code(jar, totp(secret))).rejects.toEqual(refused("INVALID_CODE"));
    expect((await newest(2)).toSorted()).toEqual(["password_accepted", "sign_in_failed"]);
  });

  test("that is repeated counts as a wrong one: ten lock the second step", async () => {
    const { first } = await enrol();
    for (let n = 0; n < 10; n += 1) {
      const jar = cookieJar();
      await password(jar);
      await expect(code(jar, first)).rejects.toEqual(refused("INVALID_CODE"));
    }
    const jar = cookieJar();
    await password(jar);
    await expect(code(jar, first)).rejects.toEqual(refused("ACCOUNT_TEMPORARILY_LOCKED"));
  });
});

describe("a trusted browser", () => {
  const proof = () => ({ password: owner.password });
  const endings: [how: string, end: (jar: Jar) => Promise<unknown>][] = [
    ["new recovery codes", (jar) => auth().api.generateBackupCodes({ body: proof(), headers: jar.headers() })],
    [
      "a change of the password",
      (jar) =>
        auth().api.changePassword({
          body: { currentPassword: owner.password, newPassword: owner.password },
          headers: jar.headers(),
        }),
    ],
    ["signing out another browser", () => endSignIns(userId, { except: crypto.randomUUID() }, operator)],
  ];

  test.each(endings)("is asked for the second factor again after %s", async (_how, end) => {
    const { jar, trusted } = await enrolAndTrust();
    expect((await newest(3)).toSorted()).toEqual(["browser_trusted", "signed_in", "signed_in"]);
    await end(jar);
    expect(await password(trusted)).toBe(true);
  });

  test("is asked again after the second factor was turned off and on", async () => {
    const { jar, trusted } = await enrolAndTrust();
    await auth().api.disableTwoFactor({ body: proof(), headers: jar.headers() });
    await enrol();
    expect(await password(trusted)).toBe(true);
  });

  test("ends with the operator's reset, and so does a sign-in that waits for its code", async () => {
    const { codes } = await enrolAndTrust();
    const waiting = cookieJar();
    await password(waiting);
    await resetPassword(owner.email, owner.password, operator);
    expect((await pool().query("select 1 from verification where value = $1", [userId])).rowCount).toBe(0);
    await expect(recover(waiting, codes[0])).rejects.toEqual(refused("INVALID_TWO_FACTOR_COOKIE"));
  });
});

test("a recovery code is in the trail as one", async () => {
  const { codes } = await enrol();
  const jar = cookieJar();
  await password(jar);
  await recover(jar, codes[0]);
  expect((await listEvents(userId, { limit: 1 }))[0]).toMatchObject({
    action: "signed_in",
    subject: "with a recovery code",
  });
});
