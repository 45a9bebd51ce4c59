// A grant is a code, exchanged once for a token, and continues with a refresh token that changes with each use. Its token opens
// only `/mcp`.
import "server-only";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { OauthError } from "#lib/auth/oauth/protocol";
import type { OauthClient } from "#lib/auth/oauth/registration";
import { createToken, isTokenText, renewToken } from "#lib/auth/tokens";
import { sha256 } from "#lib/core/digest";
import { limits } from "#lib/core/limits";
import { type Db, prisma } from "#lib/db/client";
import type { AgentGrant } from "#lib/generated/prisma/client";

export type ListedGrant = Pick<AgentGrant, "id" | "client" | "project" | "createdAt" | "expiresAt"> & {
  lastUsedAt: Date | null;
};

/** Returned only once. */
export type IssuedTokens = { accessToken: string; refreshToken: string; seconds: number };

const { codeSeconds, accessSeconds, refreshDays, perUser } = limits.oauth;
const after = (seconds: number) => new Date(Date.now() + seconds * 1000);
const refreshSeconds = refreshDays * 86_400;

function makeText(prefix: "code" | "refresh", id: string): string {
  const named = Buffer.concat([Buffer.from(id.replaceAll("-", ""), "hex"), randomBytes(24)]);
  return `spoor_${prefix}_${named.toString("base64url")}`;
}

function idIn(text: string, prefix: "code" | "refresh"): string | undefined {
  const [, named] = new RegExp(`^spoor_${prefix}_([\\w-]{54})$`).exec(text) ?? [];
  if (named === undefined) return undefined;
  const hex = Buffer.from(named, "base64url").toString("hex");
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const hasHash = (text: string, hash: Uint8Array | null) => hash !== null && timingSafeEqual(sha256(text), hash);

/** @throws OauthError `access_denied` if the user has too many grants */
export async function grant(
  userId: string,
  {
    client,
    redirectUri,
    challenge,
    project,
  }: { client: OauthClient; redirectUri: string; challenge: string; project: { id: string; name: string } | null },
  from: AuditOrigin,
): Promise<string> {
  return prisma().$transaction(async (tx) => {
    if ((await tx.agentGrant.count({ where: { userId, ...isOpen() } })) >= perUser)
      throw new OauthError("access_denied", `${perUser} agents are connected. Disconnect one on the page Machines.`);
    const about = { client: client.name, project: project?.name ?? null };
    const request = { clientHash: sha256(client.id), redirectUri, challenge };
    const { id } = await tx.agentGrant.create({
      data: { userId, ...about, ...request, projectId: project?.id ?? null, expiresAt: after(codeSeconds) },
      select: { id: true },
    });
    const code = makeText("code", id);
    await tx.agentGrant.update({ where: { id }, data: { codeHash: sha256(code) } });
    await recordEvent(tx, userId, "agent_allowed", named(about), from);
    return code;
  });
}

const named = ({ client, project }: Pick<AgentGrant, "client" | "project">) =>
  project === null ? client : `${client} (${project})`;

const isOpen = () => ({ revokedAt: null, expiresAt: { gt: new Date() } });

/** Undefined for a request that ended the grant, which has to be committed before it is answered. */
type GrantOutcome = Promise<IssuedTokens | undefined>;

/** A reused code ends its grant (RFC 6749, section 4.1.2). */
export async function exchangeCode(
  code: string,
  { client, redirectUri, verifier }: { client: OauthClient; redirectUri: string | undefined; verifier: string },
  from: AuditOrigin,
): Promise<IssuedTokens> {
  const given = await withGrant(idIn(code, "code"), async (tx, found): GrantOutcome => {
    if (!hasHash(code, found.codeHash)) return undefined;
    if (found.tokenId !== null || found.refreshHash !== null) return end(tx, found, from);
    if (!isFor(client, found)) return undefined;
    if (redirectUri !== undefined && redirectUri !== found.redirectUri) return undefined;
    if (sha256(verifier).toString("base64url") !== found.challenge) return end(tx, found, from);
    const { id: tokenId, token } = await createToken(
      tx,
      { userId: found.userId, machine: found.client, scopes: [], seconds: accessSeconds },
      from,
    );
    return renew(tx, found, token, { tokenId });
  });
  return given ?? refuse("The code was already used, has expired, or belongs to another client.");
}

/**
 * A reused refresh token was stolen, so its grant ends (OAuth 2.1, section 4.3.1). @throws OauthError
 * `invalid_grant`
 */
export async function refreshGrant(text: string, client: OauthClient, from: AuditOrigin): Promise<IssuedTokens> {
  const given = await withGrant(idIn(text, "refresh"), async (tx, found): GrantOutcome => {
    if (!isFor(client, found)) return undefined;
    if (!hasHash(text, found.refreshHash)) return end(tx, found, from);
    const token = found.tokenId === null ? undefined : await renewToken(tx, found.tokenId, accessSeconds);
    return token === undefined ? end(tx, found, from) : renew(tx, found, token, {});
  });
  return given ?? refuse("The refresh token was already used, was revoked, or has expired. Connect the agent again.");
}

function refuse(description: string): never {
  throw new OauthError("invalid_grant", description);
}

const isFor = (client: OauthClient, { clientHash }: AgentGrant) => hasHash(client.id, clientHash);

async function renew(
  tx: Db,
  { id }: AgentGrant,
  accessToken: string,
  more: { tokenId?: string },
): Promise<IssuedTokens> {
  const refreshToken = makeText("refresh", id);
  const data = { ...more, refreshHash: sha256(refreshToken), expiresAt: after(refreshSeconds) };
  await tx.agentGrant.update({ where: { id }, data });
  return { accessToken, refreshToken, seconds: accessSeconds };
}

function withGrant(id: string | undefined, work: (tx: Db, found: AgentGrant) => GrantOutcome): GrantOutcome {
  if (id === undefined) return Promise.resolve(undefined);
  return prisma().$transaction(async (tx) => {
    // A write locks the row: a second request sees what the first one did.
    const [found] = await tx.agentGrant.updateManyAndReturn({ where: { id, ...isOpen() }, data: { revokedAt: null } });
    return found && work(tx, found);
  });
}

async function end(tx: Db, { id, userId, tokenId, ...about }: AgentGrant, from: AuditOrigin): Promise<undefined> {
  await tx.agentGrant.update({ where: { id }, data: { revokedAt: new Date() } });
  if (tokenId !== null)
    await tx.cliToken.updateMany({ where: { id: tokenId, userId }, data: { revokedAt: new Date() } });
  await recordEvent(tx, userId, "agent_ended", named(about), from);
}

/** RFC 7009. */
export async function endClientGrant(text: string, client: OauthClient, from: AuditOrigin): Promise<void> {
  const id = isTokenText(text) ? await idOfToken(text) : idIn(text, "refresh");
  await withGrant(id, async (tx, found): GrantOutcome => {
    if (!isFor(client, found)) return undefined;
    if (!isTokenText(text) && !hasHash(text, found.refreshHash)) return undefined;
    return end(tx, found, from);
  });
}

async function idOfToken(text: string): Promise<string | undefined> {
  const found = await prisma().agentGrant.findFirst({ where: { token: { hash: sha256(text) } }, select: { id: true } });
  return found?.id;
}

export async function readGrant(userId: string, tokenId: string): Promise<{ projectId: string | null } | undefined> {
  const found = await prisma().agentGrant.findFirst({
    // Without an id it was granted by a name, which may also be another project's.
    where: { userId, tokenId, ...isOpen(), OR: [{ project: null }, { projectId: { not: null } }] },
    select: { projectId: true },
  });
  return found ?? undefined;
}

export async function listGrants(userId: string): Promise<ListedGrant[]> {
  const rows = await prisma().agentGrant.findMany({
    where: { userId, ...isOpen() },
    select: {
      id: true,
      client: true,
      project: true,
      createdAt: true,
      expiresAt: true,
      token: { select: { lastUsedAt: true } },
    },
    orderBy: { createdAt: "desc" },
  });
  return rows.map(({ token, ...row }) => ({ ...row, lastUsedAt: token?.lastUsedAt ?? null }));
}

export async function revokeGrant(userId: string, id: string, from: AuditOrigin): Promise<boolean> {
  return prisma().$transaction(async (tx) => {
    const found = await tx.agentGrant.findFirst({ where: { userId, id, ...isOpen() } });
    if (found) await end(tx, found, from);
    return found !== null;
  });
}

export async function purgeGrants(): Promise<number> {
  const [dayAgo, monthAgo] = [after(-86_400), after(-30 * 86_400)];
  const { count } = await prisma().agentGrant.deleteMany({
    where: {
      OR: [
        { expiresAt: { lt: dayAgo }, tokenId: null },
        { expiresAt: { lt: monthAgo } },
        { revokedAt: { lt: monthAgo } },
      ],
    },
  });
  return count;
}
