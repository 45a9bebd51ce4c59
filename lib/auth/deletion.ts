// An account ends in one short transaction; its rows follow in batches.
import "server-only";
import { setTimeout as sleep } from "node:timers/promises";
import { operator, recordEvent } from "#lib/auth/audit";
import { accountKey } from "#lib/auth/sign-in/guesses";
import { deleteMentions, deleteSome, lockUser } from "#lib/auth/sql";
import { isOutage, postgresCode } from "#lib/core/errors";
import { log } from "#lib/core/log";
import { allowLong, type Db, prisma } from "#lib/db/client";
import { getUserPrefix } from "#lib/storage/objects";
import { hasStore } from "#lib/storage/s3";

/**
 * The oldest other account replaces an owner who leaves. From the start nobody can use the account, and `resumeDeletions`
 * finishes an interrupted deletion.
 */
export async function deleteAccount(userId: string): Promise<void> {
  if (!(await endAtOnce(userId))) return;
  while (await deleteSome(userId));
  await deleteRest(userId);
}

async function deleteRest(userId: string): Promise<void> {
  await prisma().$transaction(
    async (tx) => {
      await allowLong(tx);
      await deleteMentions(tx, userId);
      // The store may be down now, so a worker deletes the objects.
      if (hasStore())
        await tx.objectRemoval.createMany({ data: [{ key: getUserPrefix(userId) }], skipDuplicates: true });
      await tx.user.deleteMany({ where: { id: userId } });
    },
    // Cascades to telemetry and the audit trail.
    { timeout: 600_000 },
  );
}

const pauseMs = 20;
const lockSeconds = 1;

/**
 * @param seconds after which no batch begins
 * @returns how many accounts are gone
 */
export async function resumeDeletions(seconds: number, signal?: AbortSignal): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  const isOver = () => signal?.aborted || performance.now() >= deadline;
  const begun = await prisma().user.findMany({ where: { deletedAt: { not: null } }, select: { id: true } });
  let gone = 0;
  for (const { id } of begun) {
    try {
      if (!(await deleteUntil(id, isOver))) continue;
      await deleteRest(id);
      log.info({ userId: id }, "the resumed deletion of an account is done");
      gone += 1;
    } catch (error) {
      log[isOutage(error) ? "info" : "warn"](
        { err: error, userId: id },
        "the deletion of an account will continue later",
      );
    }
  }
  return gone;
}

async function deleteUntil(userId: string, isOver: () => boolean | undefined): Promise<boolean> {
  while (!isOver()) {
    if (!(await deleteSome(userId, { lock_timeout: `${lockSeconds}s` }))) return true;
    await sleep(pauseMs);
  }
  return false;
}

/** A login or code that is redeemed at that moment can cause a deadlock. */
const maxAttempts = 5;
const isDeadlock = (error: unknown) =>
  (error as { code?: unknown }).code === "P2034" || postgresCode(error) === "40P01";

async function endAtOnce(userId: string): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await prisma().$transaction((tx) => endAccount(tx, userId));
    } catch (error) {
      if (attempt === maxAttempts || !isDeadlock(error)) throw error;
    }
  }
}

/** @returns false if there is no such account */
async function endAccount(tx: Db, userId: string): Promise<boolean> {
  await deleteOpen(tx, userId); // before the user is locked: a redeeming request locks the login first, and then waits for the user
  const user = await lockUser(tx, userId);
  if (!user || user.deletedAt) return user !== undefined;
  const own = { where: { userId } };
  await deleteOpen(tx, userId);
  await tx.cliToken.deleteMany(own);
  await tx.session.deleteMany(own);
  await tx.account.deleteMany(own);
  await tx.twoFactor.deleteMany(own);
  await tx.traceShare.deleteMany(own);
  await deleteMentions(tx, userId, { email: user.email, accountKey: accountKey(user.email) });
  await tx.invitation.updateMany({ where: { email: user.email }, data: { email: null } });
  const nobody = { name: "", email: `${userId}@deleted.invalid`, image: null, role: "member" };
  await tx.user.update({ where: { id: userId }, data: { ...nobody, deletedAt: new Date() }, select: { id: true } });
  if (user.role === "owner") await promoteOldest(tx);
  return true;
}

async function deleteOpen(tx: Db, userId: string): Promise<void> {
  const own = { where: { userId } };
  await tx.deviceLogin.deleteMany(own);
  await tx.agentGrant.deleteMany(own);
  await tx.invitation.deleteMany(own);
}

/** Waits for an account that is being deleted, and skips it. */
async function promoteOldest(tx: Db): Promise<void> {
  for (;;) {
    const oldest = await tx.user.findFirst({
      where: { deletedAt: null },
      orderBy: [{ createdAt: "asc" }, { id: "asc" }],
      select: { id: true },
    });
    if (!oldest) return;
    const { count } = await tx.user.updateMany({ where: { ...oldest, deletedAt: null }, data: { role: "owner" } });
    // No trail may contain another person's address.
    if (count > 0) return recordEvent(tx, oldest.id, "became_owner", null, operator);
  }
}
