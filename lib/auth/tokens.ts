import "server-only";
import { randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Origin, recordEvent, recordEvents } from "#lib/auth/audit";
import { coalesce } from "#lib/coalesce";
import { type Db, prisma } from "#lib/db/client";
import { sha256 } from "#lib/digest";
import { SpoorError } from "#lib/errors";
import type { CliToken as CliTokenRow, Prisma } from "#lib/generated/prisma/client";
import { limits } from "#lib/limits";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomDigits = 30;
const form = /^spoor_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;

/** A machine's token, without its hash. */
export type CliToken = Pick<CliTokenRow, keyof typeof tokenColumns>;

const tokenColumns = { id: true, userId: true, machine: true, createdAt: true, expiresAt: true } as const;
const isValid = () => ({ revokedAt: null, expiresAt: { gt: new Date() } });

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** A new token: `spoor_`, 30 random base62 digits (178 bits), and 6 more that are their CRC-32. */
function makeTokenText(): string {
  const random = Array.from({ length: randomDigits }, () => digits[randomInt(digits.length)]).join("");
  return `spoor_${random}${checksum(random)}`;
}

/** The CRC-32 of a token's random part in six base62 digits, most significant first. */
function checksum(random: string): string {
  let rest = crc32(random);
  let text = "";
  for (let place = 0; place < 6; place += 1) {
    text = digits[rest % digits.length] + text;
    rest = Math.floor(rest / digits.length);
  }
  return text;
}

/** Whether a text has a token's form and its checksum is right; wrong ones are refused without a query. */
export function isTokenText(text: string): boolean {
  const [, random, check] = form.exec(text) ?? [];
  return random !== undefined && checksum(random) === check;
}

/**
 * Makes a token for a user's machine. Its text leaves the server in this one answer; the table keeps its SHA-256.
 * Call it inside the transaction that decides whether there is to be a token.
 */
export async function createToken(tx: Db, userId: string, machine: string): Promise<CliToken & { token: string }> {
  const token = makeTokenText();
  const expiresAt = new Date(Date.now() + limits.device.tokenDays * dayMs);
  const row = await tx.cliToken.create({
    data: { userId, hash: sha256(token), machine, expiresAt },
    select: tokenColumns,
  });
  return { ...row, token };
}

/**
 * The valid token of an `Authorization` header.
 *
 * @param address where the call came from, noted as the token's last use (at most once a minute).
 * @throws SpoorError `missing_token` without a bearer, `invalid_token` for an unknown, expired or revoked one alike.
 */
export async function requireBearer(authorization: string | null, address: string): Promise<CliToken> {
  const [, text] = /^bearer +(.*)$/i.exec(authorization ?? "") ?? [];
  if (text === undefined) throw new SpoorError("missing_token", "Send a token: Authorization: Bearer <token>.");
  if (!isTokenText(text)) throw invalidToken();
  const row = await findToken(sha256(text));
  if (!row) throw invalidToken();
  const { hash, lastUsedAt, ...token } = row;
  if (!lastUsedAt || lastUsedAt < minuteAgo()) await noteUse(token, address);
  return token;
}

type FoundToken = CliToken & Pick<CliTokenRow, "hash" | "lastUsedAt">;

/** The valid token of a hash. Those of concurrent requests are looked up in one query. */
const findToken = coalesce<Buffer<ArrayBuffer>, FoundToken | undefined>(
  async (group) => {
    const rows = await prisma().cliToken.findMany({
      where: { hash: { in: group.map(({ item }) => item) }, ...isValid() },
      select: { ...tokenColumns, hash: true, lastUsedAt: true },
    });
    const found = new Map(rows.map((row) => [Buffer.from(row.hash).toString("hex"), row]));
    for (const { item, resolve } of group) resolve(found.get(item.toString("hex")));
  },
  { maxGroup: 100, maxInFlight: 2 },
);

const minuteAgo = () => new Date(Date.now() - minuteMs);

async function noteUse({ id }: CliToken, address: string): Promise<void> {
  await prisma().cliToken.updateMany({
    where: { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: minuteAgo() } }] },
    data: { lastUsedAt: new Date(), lastUsedIp: address },
  });
}

/** A token as its owner sees it. */
export type ListedToken = CliToken & Pick<CliTokenRow, "lastUsedAt" | "lastUsedIp">;

/** A user's valid tokens, newest first. */
export async function listTokens(userId: string): Promise<ListedToken[]> {
  return prisma().cliToken.findMany({
    where: { userId, ...isValid() },
    select: { ...tokenColumns, lastUsedAt: true, lastUsedIp: true },
    orderBy: [{ createdAt: "desc" }, { id: "asc" }],
  });
}

/** Makes a token for a machine without a browser. @returns its text, which nobody can see again */
export async function createTokenByHand(userId: string, machine: string, from: Origin): Promise<string> {
  return prisma().$transaction(async (tx) => {
    const { token } = await createToken(tx, userId, machine);
    await recordEvent(tx, userId, "token_created", machine, from);
    return token;
  });
}

/**
 * Ends one of a user's tokens, or all of them but one.
 *
 * @param which the token's id, or `{ except }` with the id that is to stay (none stays for an id of nothing).
 * @returns the machines whose tokens ended.
 */
export async function revokeTokens(
  userId: string,
  which: string | { except: string },
  from: Origin,
): Promise<string[]> {
  const id = typeof which === "string" ? which : { not: which.except };
  return prisma().$transaction((tx) => endTokens(tx, { userId, id }, from));
}

/**
 * Takes back what lets a user's machines in, in the transaction of what makes that necessary: logins that were approved and
 * not yet fetched, and the tokens. The logins first: one that is being fetched right now is waited for, and its token seen.
 */
export async function shutOutMachines(
  tx: Db,
  userId: string,
  { keepTokens }: { keepTokens: boolean },
  from: Origin,
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
  if (!keepTokens) await endTokens(tx, { userId }, from);
}

/** Ends all of a user's tokens, and logins that were approved and not yet fetched, as the user asked. */
export async function logOutMachines(userId: string, from: Origin): Promise<void> {
  await prisma().$transaction((tx) => shutOutMachines(tx, userId, { keepTokens: false }, from));
}

async function endTokens(
  tx: Db,
  which: Prisma.CliTokenWhereInput & { userId: string },
  from: Origin,
): Promise<string[]> {
  const ended = await tx.cliToken.updateManyAndReturn({
    where: { ...which, ...isValid() },
    data: { revokedAt: new Date() },
    select: { machine: true },
  });
  const machines = ended.map(({ machine }) => machine);
  await recordEvents(tx, which.userId, "token_revoked", machines, from);
  return machines;
}

const invalidToken = () => new SpoorError("invalid_token", "The token is not valid. Log in again.");
