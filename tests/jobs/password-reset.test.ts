import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOwner, isPassword, resetPassword, signUp } from "#lib/auth/accounts";
import { listEvents, operator } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { listSignIns } from "#lib/auth/sign-ins";
import { createTokenByHand, listTokens, logOutMachines, requireBearer } from "#lib/auth/tokens";
import { pool } from "#lib/db/client";
import { decideLogin, findLogin, pollLogin, startLogin } from "#lib/device/login";
import { setEnv } from "#lib/env";
import { freshDatabase, testEnvironment } from "../support/database.ts";
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

async function idOf(email: string): Promise<string> {
  const { rows } = await pool().query<{ id: string }>(`select id from "user" where email = $1`, [email]);
  return rows[0]?.id ?? "";
}

/** An account with a sign-in, a second factor, a token and a login that was approved but not redeemed. */
async function member(name: string) {
  const email = `${name}@example.org`;
  await signUp({ name, email, password }, undefined, here);
  const userId = await idOf(email);
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
const bearerOf = (token: string) => requireBearer(`Bearer ${token}`, here.address);
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
    await expect(bearerOf(token)).rejects.toThrow(refusal("invalid_token"));
    await expect(pollLogin(deviceCode, here)).rejects.toThrow(refusal("access_denied"));
    expect(await listTokens(userId)).toEqual([]);
    expect(await newest(userId, 3)).toEqual([
      ["password_reset", null],
      ["token_revoked", "laptop"],
      ["login_denied", "phone"],
    ]);
    expect(await resetPassword("nobody@example.org", password, operator)).toBe(false);
  });

  test("leaves the tokens where the operator says so, and still denies logins that were not redeemed", async () => {
    const { email, token, deviceCode } = await member("keeper");
    await resetPassword(email, "a third good password", operator, { keepTokens: true });
    expect(await bearerOf(token)).toMatchObject({ machine: "laptop" });
    await expect(pollLogin(deviceCode, here)).rejects.toThrow(refusal("access_denied"));
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
    expect(await bearerOf(other.token)).toMatchObject({ userId: other.userId });
    expect(await pollLogin(other.deviceCode, here)).toMatchObject({ status: "approved" });
    expect(await listSignIns(other.userId)).toHaveLength(1);
  });
});

test("a user who logs all machines out stays signed in", async () => {
  const { userId, token, deviceCode } = await member("careful");
  await logOutMachines(userId, here);
  await expect(bearerOf(token)).rejects.toThrow(refusal("invalid_token"));
  await expect(pollLogin(deviceCode, here)).rejects.toThrow(refusal("access_denied"));
  expect(await listSignIns(userId)).toHaveLength(1);
});

describe("npm run admin", () => {
  function admin(...words: string[]): Promise<{ stdout: string; stderr: string; status: number }> {
    const cheapHashes = new URL("../support/cheap-hashes.ts", import.meta.url).href; // as they are in this process
    const env = { ...process.env, ...testEnvironment, DATABASE_URL: database.url };
    return new Promise((resolve) => {
      const options = ["--conditions=react-server", `--import=${cheapHashes}`, "lib/server/admin.ts", ...words];
      execFile(process.execPath, options, { env }, (error, stdout, stderr) =>
        resolve({ stdout, stderr, status: Number(error?.code ?? 0) }),
      );
    });
  }

  test("tells what a model costs", async () => {
    const { stdout, status } = await admin("prices", "claude-opus-4-8", "2026-11-01");
    expect([status, stdout.split("\n")[1]]).toEqual([0, "  input               $5 a million tokens"]);
  });

  test("resets a password, and reports errors in one line", async () => {
    const { email, userId, token } = await member("racer");
    const [reset, refused] = await Promise.all([
      admin("reset-password", email),
      admin("reset-password", "nobody@example.org"),
    ]);
    const made = reset.stdout.split("\n")[1]?.trim() ?? "";
    expect(await isPassword(userId, made)).toBe(true);
    await expect(bearerOf(token)).rejects.toThrow(refusal("invalid_token"));
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/^.*No account.*\n$/) });
  });

  test("explains wrong words, and ends with 2", async () => {
    const [missing, option, command, help] = await Promise.all([
      admin("reset-password"),
      admin("reset-password", "ada@example.org", "--keep"),
      admin("fly"),
      admin("--help"),
    ]);
    expect(missing.stderr).toContain("An email address is required.");
    expect(option).toMatchObject({ status: 2 });
    expect(command).toMatchObject({ status: 2, stderr: expect.stringContaining('Unknown command "fly"') });
    expect(help.stdout).toContain("reset-password EMAIL");
  });
});
