import "server-only";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { makeSecretOnce } from "#lib/auth/sent-forms";
import { sha256 } from "#lib/core/digest";
import { env } from "#lib/core/env";
import { notFound, SpoorError } from "#lib/core/errors";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import type { Trace, TraceShare } from "#lib/generated/prisma/client";
import { getNetwork, getSite } from "#lib/http/address";
import { isOverLimit, overLimit } from "#lib/http/rate-limit";
import type { Sharing } from "#lib/masking/for-others";
import { readPicture } from "#lib/messages/pictures/read-picture";
import { toPictureResponse } from "#lib/traces/pictures";
import { getShownTitle } from "#lib/transcript/titles/choose-title";

/**
 * Links of earlier versions have 24 random bytes. Earlier versions know no ranges and masks, and must not open links that
 * have them.
 */
const tokenPattern = /^(?:[\w-]{36}|[\w-]{32})$/;
const dayMs = 86_400_000;

const isOpen = () => ({ revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: new Date() } }] });

export type Share = Pick<TraceShare, "id" | "traceId" | "createdAt" | "expiresAt"> & { title: string; shown: Sharing };

/**
 * Only its hash is stored.
 * @param wanted.days validity; null until revoked
 * @throws SpoorError `not_found` for a deleted trace and for another user's
 */
export async function shareTrace(
  userId: string,
  traceId: string,
  { days, masked, pictures = false, ...range }: Sharing & { days: number | null },
  from: AuditOrigin,
  formId?: string,
): Promise<string> {
  const fields = ["share", traceId, days, masked, pictures, range.from, range.to];
  const form = formId === undefined ? undefined : { id: formId, fields };
  const toText = (bytes: Buffer) => bytes.subarray(0, 27).toString("base64url");
  const expiresAt = days === null ? null : new Date(Date.now() + days * dayMs);
  const token = await prisma().$transaction(async (tx) => {
    const trace = await tx.trace.findUnique({
      where: { userId_id: { userId, id: traceId }, deletedAt: null },
      select: { id: true },
    });
    if (!trace) throw notFound();
    const { text, isNew } = await makeSecretOnce(tx, userId, form, toText, async (hash) => {
      const made = await tx.traceShare.findUnique({ where: { hash }, select: { revokedAt: true, expiresAt: true } });
      return made ? made.revokedAt === null && (made.expiresAt === null || made.expiresAt > new Date()) : undefined;
    });
    if (!isNew) return text;
    await tx.traceShare.createMany({
      data: [
        {
          ...{ userId, traceId, hash: sha256(text), expiresAt, masked, pictures },
          ...{ fromPosition: range.from, toPosition: range.to },
        },
      ],
    });
    await recordEvent(tx, userId, "share_created", traceId, from);
    return text;
  });
  return `${env().BASE_URL}/shared/${token}`;
}

export async function listShares(userId: string, traceId?: string): Promise<Share[]> {
  const shares = await prisma().traceShare.findMany({
    where: { userId, ...(traceId === undefined ? {} : { traceId }), ...isOpen() },
    select: {
      id: true,
      traceId: true,
      createdAt: true,
      expiresAt: true,
      fromPosition: true,
      toPosition: true,
      masked: true,
      pictures: true,
    },
    orderBy: [{ createdAt: "desc" }, { id: "asc" }],
    take: 1000,
  });
  const titles = await readTitles(
    userId,
    shares.map((share) => share.traceId),
  );
  return shares.flatMap(({ fromPosition: from, toPosition: to, masked, pictures, ...share }) => {
    const title = titles.get(share.traceId);
    return title === undefined ? [] : [{ ...share, title, shown: { from, to, masked, pictures } }];
  });
}

/** Without deleted traces. A share has no relation to its trace (prisma/schema.prisma). */
async function readTitles(userId: string, ids: string[]): Promise<Map<string, string>> {
  const traces: Pick<Trace, "id" | "customTitle" | "shortTitle" | "title" | "derivedTitle">[] =
    await prisma().trace.findMany({
      where: { userId, id: { in: [...new Set(ids)] }, deletedAt: null },
      select: { id: true, customTitle: true, shortTitle: true, title: true, derivedTitle: true },
    });
  return new Map(traces.map((trace) => [trace.id, getShownTitle(trace) ?? ""]));
}

export async function revokeShare(userId: string, id: string, from: AuditOrigin): Promise<boolean> {
  return prisma().$transaction(async (tx) => {
    const [revoked] = await tx.traceShare.updateManyAndReturn({
      where: { userId, id, ...isOpen() },
      data: { revokedAt: new Date() },
      select: { traceId: true },
    });
    if (revoked) await recordEvent(tx, userId, "share_revoked", revoked.traceId, from);
    return revoked !== undefined;
  });
}

export type OpenedShare = { userId: string; traceId: string; expiresAt: Date | null; shown: Sharing; version: string };

const attempts = { points: 60, seconds: 600 };

/**
 * Unknown, expired and revoked links get the same answer, and limits stop guesses.
 * @param address the reader's, for the limit
 */
export async function openShare(token: string, address: string): Promise<OpenedShare | undefined> {
  const network = getNetwork(address);
  if (await isOverLimit("share", network, attempts)) return undefined;
  const found = tokenPattern.test(token) ? await findShare(token) : undefined;
  if (!found) await overLimit("share", network, attempts);
  return found;
}

async function findShare(token: string): Promise<OpenedShare | undefined> {
  const share = await prisma().traceShare.findUnique({
    where: { hash: sha256(token), ...isOpen() },
    select: {
      ...{ userId: true, traceId: true, expiresAt: true },
      ...{ fromPosition: true, toPosition: true, masked: true, pictures: true },
    },
  });
  if (!share) return undefined;
  const { userId, traceId, expiresAt, fromPosition: from, toPosition: to, masked, pictures } = share;
  const live = await prisma().trace.findUnique({
    where: { userId_id: { userId, id: traceId }, deletedAt: null },
    select: { contentHash: true },
  });
  if (!live) return undefined;
  const version = Buffer.from(live.contentHash).toString("base64");
  return { userId, traceId, expiresAt, shown: { from, to, masked, pictures }, version };
}

export async function purgeShares(): Promise<void> {
  const monthAgo = new Date(Date.now() - 30 * dayMs);
  await prisma().traceShare.deleteMany({
    where: { OR: [{ expiresAt: { lt: monthAgo } }, { revokedAt: { lt: monthAgo } }] },
  });
  await deleteSharesWithoutTrace();
}

/** PostgreSQL allows 65,535 parameters. */
const tracesAtOnce = 5000;

/** A distributed database can't join traces, on one node, with shares, on all. */
async function deleteSharesWithoutTrace(): Promise<void> {
  for (const { userId } of await prisma().traceShare.groupBy({ by: ["userId"] })) {
    const shared = await prisma().traceShare.groupBy({ by: ["traceId"], where: { userId } });
    for (let at = 0; at < shared.length; at += tracesAtOnce) {
      const ids = shared.slice(at, at + tracesAtOnce).map(({ traceId }) => traceId);
      const deleted = await prisma().trace.findMany({
        where: { userId, id: { in: ids }, deletedAt: { not: null } },
        select: { id: true },
      });
      await prisma().traceShare.deleteMany({ where: { userId, traceId: { in: deleted.map(({ id }) => id) } } });
    }
  }
}

const picturesPerNetwork = { points: limits.pictures.sharedPerMinutePerNetwork, seconds: 60 };

/**
 * A link without pictures and an invalid link give the same answer.
 * @param address the reader's, for the limits
 * @throws SpoorError `rate_limited`; as `readPicture`
 */
export async function getSharedPicture(token: string, sha256: string, address: string): Promise<Response> {
  const wait =
    address === "unknown" ? undefined : await overLimit("shared-picture", getNetwork(address), picturesPerNetwork);
  if (wait) throw new SpoorError("rate_limited", undefined, { retryAfterSeconds: wait });
  const opened = await openShare(token, address);
  if (!opened?.shown.pictures) throw notFound();
  const { userId, traceId, shown } = opened;
  // A slow reader delays only their own network.
  const turn = `shared ${getSite(address)}`;
  return toPictureResponse(await readPicture({ userId, traceId, from: shown.from, to: shown.to, turn }, sha256));
}
