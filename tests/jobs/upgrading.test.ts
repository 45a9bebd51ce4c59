import { hashPassword as hashEarlier, verifyPassword as verifyEarlier } from "better-auth/crypto";
import { expect, test } from "vitest";
import { resetPassword } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { auth } from "#lib/auth/auth";
import { pool } from "#lib/db/client";
import { generation, refuseNewer } from "#lib/db/sql/floor";
import { checkReadiness } from "#lib/observability/readiness";
import { owner, provideOwner } from "../support/server.ts";

const { userId } = await provideOwner();

const today = /^\$scrypt\$/;
const stored = async () => (await pool().query("select password from account")).rows[0].password as string;
const signIn = async (password = owner.password) => {
  const { user } = await auth().api.signInEmail({ body: { email: owner.email, password } });
  expect(user.id).toBe(userId);
};
/** As if the account had been made so long before the schema was migrated, and that were so long ago. */
const migrated = async (account: string, ago: string) => {
  await pool().query("update _prisma_migrations set finished_at = now() - $1::interval", [ago]);
  await pool().query(
    `update "user" set created_at = (select min(finished_at) from _prisma_migrations) - $1::interval`,
    [account],
  );
};

test("for a day after an upgrade passwords are kept as the release before reads them, and then in today's form", async () => {
  const earlier = await hashEarlier(owner.password);
  await pool().query("update account set password = $1", [earlier]);
  await migrated("1 year", "23 hours");
  await signIn();
  expect(await stored()).toBe(earlier);
  const changed = "a wholly different password";
  expect(await resetPassword(owner.email, changed, operator)).toBe(true);
  expect(await verifyEarlier({ hash: await stored(), password: changed })).toBe(true);
  await signIn(changed);
  await migrated("1 year", "25 hours");
  await signIn(changed);
  expect(await stored()).toMatch(today);
});

test("where there was no account before, there is no release before", async () => {
  await migrated("-1 minute", "1 hour");
  await resetPassword(owner.email, owner.password, operator);
  expect(await stored()).toMatch(today);
});

test("where a newer version has stored what this one can't read, this one neither starts nor is ready", async () => {
  const raise = (to: number) =>
    pool().query(
      "insert into server_setting (key, value) values ('generation', $1) on conflict (key) do update set value = $1",
      [to],
    );
  await refuseNewer();
  await raise(generation);
  await refuseNewer();
  await raise(generation + 1);
  await expect(refuseNewer()).rejects.toThrow("Start the newer version");
  expect((await checkReadiness()).checks.migrations).toEqual({
    ok: false,
    detail: expect.stringContaining("newer version"),
  });
});
