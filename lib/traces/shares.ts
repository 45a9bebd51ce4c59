import "server-only";
import { createHash, randomBytes } from "node:crypto";
import { type Origin, recordEvent } from "#lib/auth/audit";
import { pool, transaction } from "#lib/db/client";
import { env } from "#lib/env";
import { notFound } from "#lib/errors";
import { networkOf } from "#lib/http/address";
import { isOverLimit, overLimit } from "#lib/http/rate-limit";

/** 24 random bytes; other texts are refused without a query. */
const form = /^[\w-]{32}$/;
const hashOf = (token: string) => createHash("sha256").update(token).digest();

const isOpen = "revoked_at is null and (expires_at is null or expires_at > now())";

/** A link that was made, and that still opens. */
export type Share = { id: string; traceId: string; title: string; createdAt: Date; expiresAt: Date | null };

/**
 * Makes a link by which whoever has it may read one of a user's traces. It is shown once; the table keeps its hash.
 *
 * @param days how long it opens; null until it is revoked.
 * @throws SpoorError `not_found` for a deleted trace and for another user's
 */
export async function shareTrace(userId: string, traceId: string, days: number | null, from: Origin): Promise<string> {
  const token = randomBytes(24).toString("base64url");
  await transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `insert into trace_share (user_id, trace_id, hash, expires_at)
       select user_id, id, $3, now() + make_interval(days => $4) from trace
       where user_id = $1 and id = $2 and deleted_at is null`,
      [userId, traceId, hashOf(token), days],
    );
    if (rowCount === 0) throw notFound();
    await recordEvent(tx, userId, "share_created", traceId, from);
  });
  return `${env().BASE_URL}/shared/${token}`;
}

/** A user's links that open, newest first; those of one trace where one is named. */
export async function listShares(userId: string, traceId: string | null = null): Promise<Share[]> {
  const { rows } = await pool().query<Share>(
    `select share.id, trace_id as "traceId", coalesce(title, derived_title, '') as title,
       share.created_at as "createdAt", expires_at as "expiresAt"
     from trace_share share join trace on trace.user_id = share.user_id and trace.id = trace_id
     where share.user_id = $1 and deleted_at is null and ${isOpen} and ($2::uuid is null or trace_id = $2)
     order by share.created_at desc, share.id limit 1000`,
    [userId, traceId],
  );
  return rows;
}

/** Ends one of a user's links. @returns whether it was still open */
export async function revokeShare(userId: string, id: string, from: Origin): Promise<boolean> {
  return transaction(async (tx) => {
    const { rows } = await tx.query<{ traceId: string }>(
      `update trace_share set revoked_at = now() where user_id = $1 and id = $2 and ${isOpen}
       returning trace_id as "traceId"`,
      [userId, id],
    );
    const [revoked] = rows;
    if (revoked) await recordEvent(tx, userId, "share_revoked", revoked.traceId, from);
    return revoked !== undefined;
  });
}

/** Wrong links that one network may try. */
const guesses = { points: 60, seconds: 600 };

/**
 * What a link opens. Unknown, expired and revoked ones and those of deleted traces are not told apart; a network that
 * tried many wrong ones gets nothing for a while, whatever it asks for.
 *
 * @param address where the reader is, for the limit.
 */
export async function openShare(
  token: string,
  address: string,
): Promise<{ userId: string; traceId: string; expiresAt: Date | null } | undefined> {
  const limited = env().AUTH_RATE_LIMIT === "on";
  const network = networkOf(address);
  if (limited && (await isOverLimit("share", network, guesses))) return undefined;
  const found = form.test(token) ? await findShare(token) : undefined;
  if (limited && !found) await overLimit("share", network, guesses);
  return found;
}

async function findShare(token: string) {
  const { rows } = await pool().query<{ userId: string; traceId: string; expiresAt: Date | null }>(
    `select share.user_id as "userId", trace_id as "traceId", expires_at as "expiresAt"
     from trace_share share join trace on trace.user_id = share.user_id and trace.id = trace_id
     where share.hash = $1 and deleted_at is null and ${isOpen}`,
    [hashOf(token)],
  );
  return rows[0];
}

/** Removes links that ended a month ago, and those of deleted traces. The audit trail still tells of them. */
export async function purgeShares(): Promise<void> {
  await pool().query(
    `delete from trace_share share using trace
     where trace.user_id = share.user_id and trace.id = trace_id and (deleted_at is not null
       or least(expires_at, revoked_at) < now() - interval '30 days')`,
  );
}
