import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createOwner, isPassword, resetPassword, signUp } from "#lib/auth/accounts";
import { listEvents, operator } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { findInvitation } from "#lib/auth/invitations";
import { grant, listGrants } from "#lib/auth/oauth/grants";
import { registerClient } from "#lib/auth/oauth/registration";
import { listSignIns } from "#lib/auth/sign-in/sign-ins";
import { createTokenByHand, listTokens, logOutMachines, requireBearer } from "#lib/auth/tokens";
import { setEnv } from "#lib/core/env";
import { EnvError, UsageError } from "#lib/core/errors";
import { pool } from "#lib/db/client";
import { decideLogin, findLogin, pollLogin, startLogin } from "#lib/device/login";
import { runAdmin } from "#server/commands/admin-commands";
import { freshDatabase, testEnvironment } from "../support/database.ts";
import { isLong } from "../support/long.ts";
import { owner, setupToken, someAddress } from "../support/server.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
const here = { address: "192.0.2.7", userAgent: "a test" };
const password = "another good password";

beforeAll(async () => {
  database = await freshDatabase();
  setEnv({ SETUP_TOKEN: setupToken, SIGN_UP: "open" });
  await createOwner(setupToken, owner, here);
});
afterAll(() => database.drop());

async function findId(email: string): Promise<string> {
  const { rows } = await pool().query<{ id: string }>(`select id from "user" where email = $1`, [email]);
  return rows[0]?.id ?? "";
}

/** An account with a sign-in, a second factor, a token and a login that was approved but not redeemed. */
async function member(name: string) {
  const email = `${name}@example.org`;
  await signUp({ name, email, password }, undefined, here);
  const userId = await findId(email);
  await auth().api.signInEmail({ body: { email, password }, headers: new Headers() });
  await pool().query("insert into two_factor (user_id, secret, backup_codes) values ($1, 's', 'c')", [userId]);
  const token = await createTokenByHand(userId, "laptop", here);
  return { email, userId, token, deviceCode: await approvedLogin(userId) };
}

async function approvedLogin(userId: string): Promise<string> {
  const { deviceCode, userCode } = await startLogin("phone", { ...here, address: someAddress() });
  await decideLogin(userId, (await findLogin(userId, userCode))?.id ?? "", "approved", here);
  return deviceCode;
}

const refusal = (code: string) => expect.objectContaining({ code });
const getBearer = (token: string) => requireBearer(`Bearer ${token}`, here.address);
const newest = async (userId: string, limit: number) =>
  (await listEvents(userId, { limit })).map(({ action, subject }) => [action, subject]);

describe("a password that the operator resets", () => {
  test("ends the sign-ins, the second factor, the tokens and the logins not yet redeemed, and the trail records it", async () => {
    const { userId, token, deviceCode } = await member("forgetful");
    expect(await resetPassword("Forgetful@example.org", "a third good password", operator)).toBe(true);
    expect(await listSignIns(userId)).toEqual([]);
    expect((await pool().query("select 1 from two_factor where user_id = $1", [userId])).rowCount).toBe(0);
    expect([await isPassword(userId, password), await isPassword(userId, "a third good password")]).toEqual([
      false,
      true,
    ]);
    await expect(getBearer(token)).rejects.toThrow(refusal("invalid_token"));
    await expect(pollLogin(deviceCode, here)).rejects.toThrow(refusal("access_denied"));
    expect(await listTokens(userId)).toEqual([]);
    expect(await newest(userId, 3)).toEqual([
      ["password_reset", null],
      ["token_revoked", "laptop"],
      ["login_denied", "phone"],
    ]);
    expect(await resetPassword("nobody@example.org", password, operator)).toBe(false);
  });

  test("leaves the tokens where the operator says so, and still ends logins and codes that were not redeemed", async () => {
    const { email, userId, token, deviceCode } = await member("keeper");
    const client = registerClient({ redirect_uris: ["http://127.0.0.1/"] });
    await grant(userId, { client, redirectUri: "http://127.0.0.1/", challenge: "c", project: null }, here);
    expect(await listGrants(userId)).toHaveLength(1);
    await resetPassword(email, "a third good password", operator, { keepTokens: true });
    expect(await getBearer(token)).toMatchObject({ machine: "laptop" });
    await expect(pollLogin(deviceCode, here)).rejects.toThrow(refusal("access_denied"));
    expect(await listGrants(userId)).toEqual([]);
  });

  test("leaves no token of a login that is redeemed at the same time", async () => {
    const { email, userId } = await member("hurried");
    for (let round = 0; round < 4; round += 1) {
      const deviceCode = await approvedLogin(userId);
      await Promise.allSettled([pollLogin(deviceCode, here), resetPassword(email, password, operator)]);
      expect(await listTokens(userId)).toEqual([]);
    }
  });

  test("changes no other user", async () => {
    const [one, other] = [await member("one"), await member("other")];
    await resetPassword(one.email, "a third good password", operator);
    expect(await getBearer(other.token)).toMatchObject({ userId: other.userId });
    expect(await pollLogin(other.deviceCode, here)).toMatchObject({ status: "approved" });
    expect(await listSignIns(other.userId)).toHaveLength(1);
  });
});

test("a user who logs all machines out stays signed in", async () => {
  const { userId, token, deviceCode } = await member("careful");
  await logOutMachines(userId, here);
  await expect(getBearer(token)).rejects.toThrow(refusal("invalid_token"));
  await expect(pollLogin(deviceCode, here)).rejects.toThrow(refusal("access_denied"));
  expect(await listSignIns(userId)).toHaveLength(1);
});

describe("npm run admin", () => {
  /** Runs a command in this process. @returns what it printed */
  async function admin(...words: string[]): Promise<string> {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    try {
      await runAdmin(words, (work) => work());
      return write.mock.calls.map(([text]) => text).join("");
    } finally {
      write.mockRestore();
    }
  }

  test("tells what a model costs", async () => {
    const printed = await admin("prices", "claude-opus-4-8", "2026-11-01");
    expect(printed.split("\n")[1]).toBe("  input               $5 a million tokens");
  });

  test("lists accounts, and invites", async () => {
    await member("listed");
    expect(await admin("list")).toMatch(/member +listed@example\.org/);
    const link = /http\S+/.exec(await admin("invite", "new@example.org"))?.[0] ?? "";
    const invitation = new URL(link).searchParams.get("invitation") ?? "";
    expect(await findInvitation(invitation)).toEqual({ email: "new@example.org" });
  });

  test("resets a password, and with it the tokens unless they are to be kept", async () => {
    const { email, userId, token } = await member("racer");
    expect(await admin("reset-password", email, "--keep-tokens")).toContain("Its tokens stay valid.");
    expect(await getBearer(token)).toMatchObject({ userId });
    const reset = await admin("reset-password", email);
    expect(await isPassword(userId, reset.split("\n")[1]?.trim() ?? "")).toBe(true);
    await expect(getBearer(token)).rejects.toThrow(refusal("invalid_token"));
    await expect(admin("reset-password", "nobody@example.org")).rejects.toThrow(EnvError);
  });

  test("explains wrong words", async () => {
    await expect(admin("reset-password")).rejects.toThrow("An email address is required.");
    await expect(admin("reset-password", "ada@example.org", "--keep")).rejects.toThrow(UsageError);
    expect(await admin("--help")).toContain("reset-password EMAIL");
  });

  test("is a program, which reports an error in one line, and ends with 2 for wrong words and with 1 for all else", async () => {
    const run = (...words: string[]) => {
      const env = { ...process.env, ...testEnvironment, DATABASE_URL: database.url };
      const options = ["--conditions=react-server", "server/commands/admin.ts", ...words];
      return new Promise<{ status: number; errors: string }>((resolve) => {
        execFile(process.execPath, options, { env }, (error, _, errors) =>
          resolve({ status: Number(error?.code ?? 0), errors }),
        );
      });
    };
    expect(await run("fly")).toEqual({ status: 2, errors: expect.stringContaining('Unknown command "fly"') });
    if (!isLong) return;
    const refused = await run("reset-password", "nobody@example.org");
    expect(refused).toEqual({ status: 1, errors: expect.stringMatching(/^.*No account.*\n$/) });
  });
});
