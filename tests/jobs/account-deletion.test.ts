import { describe, expect, test } from "vitest";
import { listAccounts } from "#lib/auth/accounts";
import { operator } from "#lib/auth/audit";
import { deleteAccount, resumeDeletions } from "#lib/auth/deletion";
import { createTokenByHand, requireBearer } from "#lib/auth/tokens";
import { pool, transaction } from "#lib/db/client";
import { runJob } from "#lib/ingest/process/run-job";
import { accountTraces } from "#lib/ledger/account";
import { indexNext } from "#lib/search/index/indexer";
import { accept, trace } from "../support/ingesting.ts";
import { findResidue } from "../support/residue.ts";
import { makeUser, provideOwner } from "../support/server.ts";

await provideOwner();
const bob = { name: "Bob", email: "bob@example.org", password: "" };

/** Ends the connection that waits to delete an account's rows, here or on a node. @returns whether there was one */
async function endDeletion(): Promise<boolean> {
  const { rowCount } = await pool().query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and query like 'select id from ingest_job%' and state = 'active'
       and state_change < clock_timestamp() - interval '300 milliseconds'`,
  );
  return rowCount === 1;
}

/** Waits until a statement waits for a lock. */
const waitsFor = (statement: string) =>
  expect
    .poll(
      async () =>
        (
          await pool().query(
            `select 1 from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query ilike $1`,
            [statement],
          )
        ).rowCount,
      { timeout: 10_000 },
    )
    .toBe(1);

const approve = (userId: string) =>
  pool().query(
    `insert into device_login (device_code_hash, user_code_hash, machine, ip_address, expires_at, user_id, status)
     values ('\\x01', '\\x02', 'laptop', '192.0.2.7', now() + interval '1 minute', $1, 'approved')`,
    [userId],
  );

describe("the deletion of an account", () => {
  test("that is interrupted leaves an account that nobody can use, and is resumed", async () => {
    const userId = await makeUser(bob);
    const token = await createTokenByHand(userId, "laptop", operator);
    const jobId = await accept(userId, trace("one", "zyxaccount-content"));
    await runJob({ userId, jobId });
    await indexNext();
    await accountTraces(1);
    await accept(userId, trace("two", "zyxaccount-waiting"));

    await transaction(async (tx) => {
      await tx.query("select 1 from ingest_job where user_id = $1 for update", [userId]); // as a running job does
      const deletion = deleteAccount(userId);
      deletion.catch(() => {});
      await expect.poll(endDeletion, { timeout: 10_000 }).toBe(true);
      await expect(deletion).rejects.toThrow();
    });
    expect((await listAccounts()).map(({ email }) => email)).not.toContain(bob.email);
    await expect(requireBearer(`Bearer ${token}`, "192.0.2.7")).rejects.toMatchObject({ code: "invalid_token" });
    await expect(accept(userId, trace("three", "zyxaccount-late"))).rejects.toMatchObject({ code: "invalid_token" });
    const next = await makeUser(bob); // the address is free
    expect(next).not.toBe(userId);

    expect(await resumeDeletions(60)).toBe(1);
    expect(await findResidue([userId, "zyxaccount"])).toEqual([]);
    expect(await resumeDeletions(60)).toBe(0);
    expect((await listAccounts()).map(({ email }) => email)).toContain(bob.email);
  });

  test("of the owner passes over a member whose account is deleted at the same moment", async () => {
    const { rows: owners } = await pool().query(`select id from "user" where role = 'owner'`);
    const leaving = await makeUser({ ...bob, email: "leaving@example.org" });
    const staying = await makeUser({ ...bob, email: "staying@example.org" });
    for (const [id, years] of [
      [leaving, 2],
      [staying, 1],
    ])
      await pool().query(`update "user" set created_at = now() - make_interval(years => $2) where id = $1`, [
        id,
        years,
      ]);
    let deletion: Promise<void> | undefined;
    await transaction(async (tx) => {
      await tx.query(`update "user" set deleted_at = now() where id = $1`, [leaving]);
      deletion = deleteAccount(owners[0].id);
      deletion.catch(() => {});
      await waitsFor("update%user%");
    });
    await deletion;
    const found = await pool().query(`select id from "user" where role = 'owner'`);
    expect(found.rows).toEqual([{ id: staying }]);
    expect(await resumeDeletions(60)).toBe(1);
  });

  test("waits for a login that is being redeemed at this moment", async () => {
    const userId = await makeUser({ ...bob, email: "redeeming@example.org" });
    await approve(userId);
    let deletion: Promise<void> | undefined;
    await transaction(async (tx) => {
      await tx.query("select 1 from device_login where user_id = $1 for update", [userId]);
      deletion = deleteAccount(userId);
      deletion.catch(() => {});
      await waitsFor("delete from%device_login%");
      // As a row of a token does, which names its user.
      await tx.query(`select 1 from "user" where id = $1 for key share`, [userId]);
    });
    await deletion;
    expect(await findResidue([userId])).toEqual([]);
  });

  test("is tried again where it was a deadlock with a login that was approved and redeemed at this moment", async () => {
    const userId = await makeUser({ ...bob, email: "deadlock@example.org" });
    let deletion: Promise<void> | undefined;
    await transaction(async (redeeming) => {
      await transaction(async (tx) => {
        await tx.query(`select 1 from "user" where id = $1 for no key update`, [userId]);
        deletion = deleteAccount(userId);
        deletion.catch(() => {});
        await waitsFor('%from "user"%for update%');
        await approve(userId);
        await redeeming.query("select 1 from device_login where user_id = $1 for update", [userId]);
      });
      await waitsFor("delete from%device_login%");
      await redeeming.query(`select 1 from "user" where id = $1 for key share`, [userId]);
    });
    await deletion;
    expect(await findResidue([userId])).toEqual([]);
  });

  test("takes batch after batch, also where uploads share a body, and several calls at once", async () => {
    const userId = await makeUser({ ...bob, email: "many@example.org" });
    for (let n = 0; n < 60; n += 1) await accept(userId, trace("same", "zyxaccount-same"));
    await Promise.all([deleteAccount(userId), deleteAccount(userId)]);
    expect(await findResidue([userId, "zyxaccount"])).toEqual([]);
  });

  test("is resumed in turns, by several at once, and one that has to wait keeps up no other", async () => {
    const waiting = await makeUser({ ...bob, email: "waiting@example.org" });
    const free = await makeUser({ ...bob, email: "free@example.org" });
    for (const userId of [waiting, free]) await accept(userId, trace("begun", "zyxaccount-begun"));
    await pool().query(`update "user" set deleted_at = now() where id = any($1)`, [[waiting, free]]);
    expect(await resumeDeletions(0)).toBe(0); // its time is over
    expect(await resumeDeletions(60, AbortSignal.abort())).toBe(0);
    expect(await findResidue([waiting])).not.toEqual([]);
    await transaction(async (tx) => {
      await tx.query("select 1 from ingest_job where user_id = $1 for update", [waiting]); // as a running job does
      expect(await resumeDeletions(60)).toBe(1);
      expect(await findResidue([free])).toEqual([]);
    });
    await Promise.all([resumeDeletions(60), resumeDeletions(60)]);
    expect(await findResidue([waiting, free, "zyxaccount"])).toEqual([]);
  });
});
