import "server-only";
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { type AuditOrigin, recordEvent, recordEvents } from "#lib/auth/audit";
import { makeSecretOnce } from "#lib/auth/sent-forms";
import { coalesce } from "#lib/core/concurrency/coalesce";
import { sha256 } from "#lib/core/digest";
import { SpoorError } from "#lib/core/errors";
import { type Scope, scopesIn, usualScopes } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { type Db, prisma } from "#lib/db/client";
import type { CliToken as CliTokenRow, Prisma } from "#lib/generated/prisma/client";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomDigits = 30;
const tokenPattern = /^spoor_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

export type CliToken = Omit<Pick<CliTokenRow, keyof typeof tokenColumns>, "scopes"> & { scopes: Scope[] };

const tokenColumns = {
  id: true,
  userId: true,
  machine: true,
  scopes: true,
  createdAt: true,
  expiresAt: true,
} as const;
const isValid = () => ({ revokedAt: null, expiresAt: { gt: new Date() } });

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** `spoor_`, 30 base62 digits (178 bits) and their CRC-32 in 6 more. @param bytes 32 random ones */
function makeTokenText(bytes: Buffer = randomBytes(32)): string {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let random = "";
  for (; random.length < randomDigits; rest /= 62n) random += digits[Number(rest % 62n)];
  return `spoor_${random}${checksum(random)}`;
}

/** Six base62 digits, most significant first. */
function checksum(random: string): string {
  let rest = crc32(random);
  let text = "";
  for (let place = 0; place < 6; place += 1) {
    text = digits[rest % digits.length] + text;
    rest = Math.floor(rest / digits.length);
  }
  return text;
}

/** Texts with a wrong checksum are refused without a query. */
export function isTokenText(text: string): boolean {
  const [, random, check] = tokenPattern.exec(text) ?? [];
  return random !== undefined && checksum(random) === check;
}

/** Call it in the transaction that decides whether the token may be created. */
export async function createToken(
  tx: Db,
  { userId, machine, scopes, seconds }: { userId: string; machine: string; scopes: Scope[]; seconds?: number },
  from: AuditOrigin,
  token = makeTokenText(),
): Promise<CliToken & { token: string }> {
  const expiresAt = new Date(Date.now() + (seconds === undefined ? limits.device.tokenDays * dayMs : seconds * 1000));
  const row = await tx.cliToken.create({
    data: { userId, hash: sha256(token), machine, scopes, expiresAt },
    select: tokenColumns,
  });
  // An agent's token has no scopes; its grant is in the trail already.
  if (scopes.length > 0) await recordEvent(tx, userId, "token_created", toGrant(machine, scopes), from);
  return { ...row, scopes, token };
}

/** @returns the new text, or undefined if the token was revoked */
export async function renewToken(tx: Db, id: string, seconds: number): Promise<string | undefined> {
  const token = makeTokenText();
  const { count } = await tx.cliToken.updateMany({
    where: { id, revokedAt: null },
    data: { hash: sha256(token), expiresAt: new Date(Date.now() + seconds * 1000) },
  });
  return count === 1 ? token : undefined;
}

export const toGrant = (machine: string, scopes: Scope[]) => `${machine} (${scopes.join(", ")})`;

/**
 * @param address is stored as the last use, at most once a minute
 * @throws SpoorError `missing_token` without a bearer, `invalid_token` for an unknown, expired or revoked one
 */
export async function requireBearer(authorization: string | null, address: string): Promise<PresentedToken> {
  const [, text] = /^bearer +(.*)$/i.exec(authorization ?? "") ?? [];
  if (text === undefined) throw new SpoorError("missing_token");
  if (!isTokenText(text)) throw invalidToken();
  const row = await findToken(sha256(text));
  if (!row) throw invalidToken();
  const { hash, lastUsedAt, ...token } = row;
  if (!lastUsedAt || lastUsedAt < minuteAgo()) await recordUse(token, address);
  return token;
}

/** A token without scopes is an agent's (lib/auth/oauth/grants.ts). */
export type PresentedToken = CliToken & { isOfAgent: boolean };
type FoundToken = PresentedToken & Pick<CliTokenRow, "hash" | "lastUsedAt">;

/** Concurrent requests share a query. */
const findToken = coalesce<Buffer<ArrayBuffer>, FoundToken | undefined>(
  async (group) => {
    const rows = await prisma().cliToken.findMany({
      where: { hash: { in: group.map(({ item }) => item) }, ...isValid() },
      select: { ...tokenColumns, hash: true, lastUsedAt: true },
    });
    const found = new Map(rows.map((row) => [Buffer.from(row.hash).toString("hex"), row]));
    for (const { item, resolve } of group) {
      const row = found.get(item.toString("hex"));
      resolve(row && { ...row, scopes: scopesIn(row.scopes), isOfAgent: row.scopes.length === 0 });
    }
  },
  { maxGroup: 100, maxInFlight: 2 },
);

const minuteAgo = () => new Date(Date.now() - minuteMs);

async function recordUse({ id }: CliToken, address: string): Promise<void> {
  await prisma().cliToken.updateMany({
    where: { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: minuteAgo() } }] },
    data: { lastUsedAt: new Date(), lastUsedIp: address },
  });
}

export type ListedToken = CliToken & Pick<CliTokenRow, "lastUsedAt" | "lastUsedIp">;

/** The page's time grows with their number. */
export const maxListedTokens = 200;

export async function listTokens(userId: string): Promise<ListedToken[]> {
  const rows = await prisma().cliToken.findMany({
    // Those without scopes belong to agents.
    where: { userId, scopes: { isEmpty: false }, ...isValid() },
    select: { ...tokenColumns, lastUsedAt: true, lastUsedIp: true },
    orderBy: [{ createdAt: "desc" }, { id: "asc" }],
    take: maxListedTokens,
  });
  return rows.map((row) => ({ ...row, scopes: scopesIn(row.scopes) }));
}

/** For a machine without a browser; creates one token for each form. @returns its text */
export async function createTokenByHand(
  userId: string,
  machine: string,
  from: AuditOrigin,
  scopes: Scope[] = usualScopes,
  formId?: string,
): Promise<string> {
  const form = formId === undefined ? undefined : { id: formId, fields: ["token", machine, scopes] };
  return prisma().$transaction(async (tx) => {
    const { text, isNew } = await makeSecretOnce(tx, userId, form, makeTokenText, async (hash) => {
      const token = await tx.cliToken.findUnique({ where: { hash }, select: { revokedAt: true, expiresAt: true } });
      return token ? token.revokedAt === null && token.expiresAt > new Date() : undefined;
    });
    if (isNew) await createToken(tx, { userId, machine, scopes }, from, text);
    return text;
  });
}

export async function revokeToken(userId: string, id: string, from: AuditOrigin): Promise<boolean> {
  return prisma().$transaction(async (tx) => (await revokeWhere(tx, { userId, id }, from)).length > 0);
}

/** Logins come first: this waits for one that is being redeemed, and then sees its token. */
export async function revokeMachines(
  tx: Db,
  userId: string,
  { keepTokens }: { keepTokens: boolean },
  from: AuditOrigin,
): Promise<void> {
  const denied = await tx.deviceLogin.updateManyAndReturn({
    where: { userId, status: "approved" },
    data: { status: "denied" },
    select: { machine: true },
  });
  await recordEvents(
    tx,
    userId,
    "login_denied",
    denied.map(({ machine }) => machine),
    from,
  );
  if (!keepTokens) await revokeWhere(tx, { userId }, from);
  else await endGrants(tx, { userId, tokenId: null });
}

async function endGrants(tx: Db, which: Prisma.AgentGrantWhereInput & { userId: string }): Promise<void> {
  await tx.agentGrant.updateMany({ where: { ...which, revokedAt: null }, data: { revokedAt: new Date() } });
}

export async function logOutMachines(userId: string, from: AuditOrigin): Promise<void> {
  await prisma().$transaction((tx) => revokeMachines(tx, userId, { keepTokens: false }, from));
}

async function revokeWhere(
  tx: Db,
  which: Prisma.CliTokenWhereInput & { userId: string },
  from: AuditOrigin,
): Promise<string[]> {
  // First, since an agent's exchange locks grants before tokens: the other order could deadlock.
  if (which.id === undefined) await endGrants(tx, { userId: which.userId });
  const revoked = await tx.cliToken.updateManyAndReturn({
    where: { ...which, ...isValid() },
    data: { revokedAt: new Date() },
    select: { machine: true },
  });
  const machines = revoked.map(({ machine }) => machine);
  await recordEvents(tx, which.userId, "token_revoked", machines, from);
  return machines;
}

const invalidToken = () => new SpoorError("invalid_token");

/** A background client reports several times a day, except on a long weekend. */
const silentAfterDays = 7;

export const isSilentSince = (heardAt: Date, now: Date): boolean =>
  now.getTime() - heardAt.getTime() > silentAfterDays * 86_400_000;

type SeenToken = { machine: string; lastUsedAt: Date | null };

export function silentMachines(tokens: SeenToken[], now: Date): { machine: string; heardAt: Date }[] {
  const heard = new Map<string, Date | undefined>();
  for (const { machine, lastUsedAt } of tokens) {
    const known = heard.get(machine);
    if (!known || (lastUsedAt && lastUsedAt > known)) heard.set(machine, lastUsedAt ?? known);
  }
  return [...heard]
    .flatMap(([machine, heardAt]) => (heardAt && isSilentSince(heardAt, now) ? [{ machine, heardAt }] : []))
    .sort((a, b) => a.heardAt.getTime() - b.heardAt.getTime());
}
