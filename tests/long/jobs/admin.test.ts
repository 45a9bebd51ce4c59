import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOwner, isPassword, signUp } from "#lib/auth/accounts";
import { findInvitation } from "#lib/auth/invitations";
import { createTokenByHand, requireBearer } from "#lib/auth/tokens";
import { pool } from "#lib/db/client";
import { setEnv } from "#lib/env";
import { freshDatabase, testEnvironment } from "../../support/database.ts";
import { owner, setupToken } from "../../support/server.ts";

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

/** An account with a token. */
async function member(name: string) {
  const email = `${name}@example.org`;
  await signUp({ name, email, password }, undefined, here);
  const userId = await idOf(email);
  return { email, userId, token: await createTokenByHand(userId, "laptop", here) };
}

const refusal = (code: string) => expect.objectContaining({ code });
const bearerOf = (token: string) => requireBearer(`Bearer ${token}`, here.address);

describe("npm run admin", () => {
  function admin(...words: string[]) {
    const environment = { ...process.env, ...testEnvironment, DATABASE_URL: database.url };
    return spawnSync(process.execPath, ["--conditions=react-server", "lib/server/admin.ts", ...words], {
      env: environment,
      encoding: "utf8",
    });
  }

  test("lists, invites and resets, and reports errors in one line", async () => {
    const { email, userId, token } = await member("racer");
    expect(admin("list").stdout).toMatch(/member +racer@example\.org/);
    const link = /http\S+/.exec(admin("invite", "new@example.org").stdout)?.[0] ?? "";
    const invitation = new URL(link).searchParams.get("invitation") ?? "";
    expect(await findInvitation(invitation)).toEqual({ email: "new@example.org" });
    const kept = admin("reset-password", email, "--keep-tokens");
    expect(kept.stdout).toContain("Its tokens stay valid.");
    expect(await bearerOf(token)).toMatchObject({ userId });
    const reset = admin("reset-password", email);
    const made = reset.stdout.split("\n")[1]?.trim() ?? "";
    expect(await isPassword(userId, made)).toBe(true);
    await expect(bearerOf(token)).rejects.toThrow(refusal("invalid_token"));
    expect(admin("reset-password", "nobody@example.org")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("No account"),
    });
    expect(admin("reset-password").stderr).toContain("An email address is required.");
    expect(admin("reset-password", email, "--keep")).toMatchObject({ status: 1 });
    expect(admin("fly").stderr).toContain('Unknown command "fly"');
    expect(admin("--help").stdout).toContain("reset-password EMAIL");
  });
});
