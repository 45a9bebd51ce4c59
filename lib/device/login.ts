import "server-only";
import { createHmac, randomBytes, randomInt } from "node:crypto";
import type { z } from "zod";
import { type AuditOrigin, recordEvent } from "#lib/auth/audit";
import { createToken, revokeToken, toGrant } from "#lib/auth/tokens";
import { sha256 } from "#lib/core/digest";
import { env, requiredEnv } from "#lib/core/env";
import { SpoorError } from "#lib/core/errors";
import { type Scope, scopesIn, usualScopes } from "#lib/core/fields";
import { limits } from "#lib/core/limits";
import { prisma } from "#lib/db/client";
import type { pollResponse, startResponse } from "#lib/device/schema";
import type { DeviceLogin, Prisma } from "#lib/generated/prisma/client";
import { getNetwork, getSite } from "#lib/http/address";
import { overLimit, uncount } from "#lib/http/rate-limit";

/** Consonants only, so that no words and no look-alikes occur (RFC 8628, section 6.1). */
const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ";

/** Eight letters could all be tried against a plain hash, so this one is keyed. */
const hashOfUserCode = (code: string) =>
  createHmac("sha256", requiredEnv("AUTH_SECRET")).update(`user-code:${code}`).digest();

const shownUserCode = (code: string) => `${code.slice(0, 4)}-${code.slice(4)}`;

const randomUserCode = () =>
  Array.from({ length: 8 }, () => userCodeLetters[randomInt(userCodeLetters.length)]).join("");

/** @returns undefined if it can't be a code */
export function normalizeUserCode(typed: string): string | undefined {
  const code = typed.replace(/[\s\p{Pd}]/gu, "").toUpperCase();
  return new RegExp(`^[${userCodeLetters}]{8}$`).test(code) ? code : undefined;
}

const { device } = limits;

/** RFC 8628, section 3.2. The URIs come from `BASE_URL`, never from the request. */
export async function startLogin(
  machine: string,
  from: AuditOrigin,
  scopes: Scope[] = usualScopes,
): Promise<z.input<typeof startResponse>> {
  await limitStarts(from.address);
  const deviceCode = randomBytes(32).toString("base64url");
  const expiresAt = new Date(Date.now() + device.expiresInSeconds * 1000);
  const userCode = await createLogin({
    deviceCodeHash: sha256(deviceCode),
    machine,
    scopes,
    ipAddress: from.address,
    userAgent: from.userAgent,
    intervalSeconds: device.intervalSeconds,
    expiresAt,
  });
  const verificationUri = `${env().BASE_URL}/device`;
  return {
    ok: true,
    deviceCode,
    userCode,
    verificationUri,
    verificationUriComplete: `${verificationUri}?code=${userCode}`,
    expiresIn: device.expiresInSeconds,
    expiresAt: expiresAt.toISOString(),
    interval: device.intervalSeconds,
  };
}

async function limitStarts(address: string): Promise<void> {
  const { startsPer10MinutesPerIp: ofNetwork, startsPer10MinutesPerSite: ofSite, startsPer10Minutes: ofAll } = device;
  const seconds = 600;
  const refused = (where: string, retryAfterSeconds: number) =>
    new SpoorError("rate_limited", `Too many logins were started ${where}.`, { retryAfterSeconds });
  const wait = await overLimit("device-start", getNetwork(address), { points: ofNetwork, seconds });
  if (wait) throw refused("from this address", wait);
  const waitOfSite = await overLimit("device-start-site", getSite(address), { points: ofSite, seconds });
  if (waitOfSite) throw refused("from this address", waitOfSite);
  const waitOfAll = await overLimit("device-start-all", "all", { points: ofAll, seconds });
  if (waitOfAll) throw refused("on this server", waitOfAll);
}

async function createLogin(login: Omit<Prisma.DeviceLoginCreateManyInput, "userCodeHash">): Promise<string> {
  for (;;) {
    const code = randomUserCode();
    const data = [{ ...login, userCodeHash: hashOfUserCode(code) }];
    const { count } = await prisma().deviceLogin.createMany({ data, skipDuplicates: true });
    if (count === 1) return shownUserCode(code); // else another open login has it (one in 25 billion)
  }
}

type PollResponse = z.input<typeof pollResponse>;

/** RFC 8628, section 3.4. The first poll after the approval creates the token. */
export async function pollLogin(deviceCode: string, from: AuditOrigin): Promise<PollResponse> {
  const hash = sha256(deviceCode);
  await limitPolls(hash.toString("base64url"), from.address);
  const login = await prisma().deviceLogin.findUnique({ where: { deviceCodeHash: hash }, select: polledColumns });
  if (!login) throw new SpoorError("invalid_grant");
  if (login.status === "denied") throw new SpoorError("access_denied", "The login was denied in the browser.");
  if (login.status === "redeemed") throw new SpoorError("already_consumed");
  if (isRedeemable(login)) return redeem(login.id, from);
  if (login.expiresAt <= new Date()) throw new SpoorError("expired_token");
  return recordPoll(login);
}

const polledColumns = {
  id: true,
  status: true,
  expiresAt: true,
  decidedAt: true,
  intervalSeconds: true,
  lastPolledAt: true,
} as const;

type PolledLogin = Pick<DeviceLogin, keyof typeof polledColumns>;

/** An approval in the last moment leaves the client time for one more poll. */
function isRedeemable({ status, expiresAt, decidedAt }: PolledLogin): boolean {
  const until = Math.max(expiresAt.getTime(), (decidedAt?.getTime() ?? 0) + device.graceSeconds * 1000);
  return status === "approved" && until > Date.now();
}

async function limitPolls(code: string, address: string): Promise<void> {
  const waits = await Promise.all([
    overLimit("device-poll-ip", getNetwork(address), { points: device.pollsPerMinutePerIp, seconds: 60 }),
    overLimit("device-poll-code", code, { points: device.pollsPerMinutePerCode, seconds: 60 }),
  ]);
  const wait = Math.max(...waits.map((seconds) => seconds ?? 0));
  if (wait > 0) throw new SpoorError("slow_down", undefined, { retryAfterSeconds: wait });
}

/** Whoever changes the login's row creates the token, in the same transaction. */
async function redeem(loginId: string, from: AuditOrigin): Promise<PollResponse> {
  return prisma().$transaction(async (tx) => {
    const [login] = await tx.deviceLogin.updateManyAndReturn({
      where: { id: loginId, status: "approved" },
      data: { status: "redeemed" },
      select: { userId: true, machine: true, scopes: true },
    });
    if (!login?.userId) throw new SpoorError("already_consumed");
    const { userId, machine } = login;
    const scopes = scopesIn(login.scopes);
    const { token, id, expiresAt } = await createToken(tx, { userId, machine, scopes }, from);
    await tx.deviceLogin.updateMany({ where: { id: loginId }, data: { tokenId: id } });
    const user = await tx.user.findUnique({ where: { id: userId }, select: { name: true, email: true } });
    if (!user) throw new SpoorError("access_denied", "The account that approved this login was deleted.");
    return {
      ok: true,
      status: "approved",
      token,
      tokenType: "Bearer",
      userId,
      user,
      machine,
      scopes,
      expiresAt: expiresAt.toISOString(),
    };
  });
}

/** A poll that comes too early, or at the same time as another, lengthens the interval. */
async function recordPoll({ id, lastPolledAt, intervalSeconds, expiresAt }: PolledLogin): Promise<PollResponse> {
  const now = new Date();
  // Allows for clients whose timer is a little fast.
  const nextPollAt = (lastPolledAt?.getTime() ?? 0) + (intervalSeconds - 1) * 1000;
  const inTime = nextPollAt <= now.getTime() && (await isFirstPollSince(id, lastPolledAt, now));
  const interval = inTime ? intervalSeconds : Math.min(intervalSeconds + 5, device.maxIntervalSeconds);
  if (!inTime) {
    const data = { lastPolledAt: now, intervalSeconds: interval };
    await prisma().deviceLogin.updateMany({ where: { id }, data });
  }
  const expiresIn = Math.max(0, Math.ceil((expiresAt.getTime() - now.getTime()) / 1000));
  return { ok: true, status: "pending", interval, expiresIn, ...(inTime ? {} : { slowDown: true as const }) };
}

async function isFirstPollSince(id: string, lastPolledAt: Date | null, now: Date): Promise<boolean> {
  const { count } = await prisma().deviceLogin.updateMany({
    where: { id, lastPolledAt },
    data: { lastPolledAt: now },
  });
  return count === 1;
}

/** `scopes` are those that the client requested. */
export type LoginRequest = Omit<Pick<DeviceLogin, keyof typeof shownColumns>, "status" | "scopes" | "expiresAt"> & {
  status: "pending" | "approved" | "denied" | "redeemed" | "expired";
  scopes: Scope[];
};

const shownColumns = {
  id: true,
  machine: true,
  scopes: true,
  ipAddress: true,
  userAgent: true,
  createdAt: true,
  status: true,
  expiresAt: true,
} as const;

function shownLogin({ expiresAt, ...login }: Pick<DeviceLogin, keyof typeof shownColumns>): LoginRequest {
  const expired = login.status === "pending" && expiresAt <= new Date();
  const status = expired ? "expired" : (login.status as LoginRequest["status"]);
  return { ...login, status, scopes: scopesIn(login.scopes) };
}

/** For signed-in people only. @throws SpoorError `rate_limited` after ten wrong codes in ten minutes by one person */
export async function findLogin(
  userId: string,
  typed: string,
): Promise<(LoginRequest & { userCode: string }) | undefined> {
  const window = { points: device.codeTriesPer10Minutes, seconds: 600 };
  const wait = await overLimit("device-code", userId, window);
  if (wait) throw new SpoorError("rate_limited", "Too many codes were tried.", { retryAfterSeconds: wait });
  const code = normalizeUserCode(typed);
  if (!code) return undefined;
  const login = await prisma().deviceLogin.findUnique({
    where: { userCodeHash: hashOfUserCode(code) },
    select: shownColumns,
  });
  if (!login) return undefined;
  await uncount("device-code", userId, window);
  return { ...shownLogin(login), userCode: shownUserCode(code) };
}

/** For a person who has proved that they know its code or opened its link. */
export async function getLogin(id: string): Promise<LoginRequest | undefined> {
  const login = await prisma().deviceLogin.findUnique({ where: { id }, select: shownColumns });
  return login ? shownLogin(login) : undefined;
}

type LoginDecision = "approved" | "denied";

/**
 * One of several concurrent decisions takes effect.
 * @returns whether this one did
 */
export async function decideLogin(
  userId: string,
  loginId: string,
  decision: LoginDecision,
  from: AuditOrigin,
  granted?: Scope[],
): Promise<boolean> {
  return prisma().$transaction(async (tx) => {
    const [decided] = await tx.deviceLogin.updateManyAndReturn({
      where: { id: loginId, status: "pending", expiresAt: { gt: new Date() } },
      data: { status: decision, userId, decidedAt: new Date(), ...(granted ? { scopes: granted } : {}) },
      select: { machine: true, scopes: true },
    });
    if (!decided) return false;
    const { machine, scopes } = decided;
    const subject = decision === "approved" ? toGrant(machine, scopesIn(scopes)) : machine;
    await recordEvent(tx, userId, `login_${decision}`, subject, from);
    return true;
  });
}

/** True if a form that is sent twice made the same decision before. */
export async function isDecided(
  userId: string,
  id: string,
  decision: LoginDecision,
  granted?: Scope[],
): Promise<boolean> {
  const status = decision === "approved" ? { in: ["approved", "redeemed"] } : decision;
  const where = { id, userId, status, ...(granted && { scopes: { equals: granted } }) };
  return (await prisma().deviceLogin.count({ where })) > 0;
}

/** Approved, without a token yet. */
export type ApprovedLogin = Pick<DeviceLogin, "id" | "machine" | "createdAt"> & { scopes: Scope[] };

export async function listApprovedLogins(userId: string): Promise<ApprovedLogin[]> {
  const rows = await prisma().deviceLogin.findMany({
    // By its index, since anybody can start logins.
    where: { userId, status: "approved", expiresAt: { gt: new Date(Date.now() - device.graceSeconds * 1000) } },
    select: { ...polledColumns, machine: true, scopes: true, createdAt: true },
    orderBy: { createdAt: "desc" },
  });
  return rows
    .filter(isRedeemable)
    .map(({ id, machine, scopes, createdAt }) => ({ id, machine, createdAt, scopes: scopesIn(scopes) }));
}

export async function withdrawLogin(userId: string, id: string, from: AuditOrigin): Promise<boolean> {
  const isWithdrawn = await prisma().$transaction(async (tx) => {
    const [login] = await tx.deviceLogin.updateManyAndReturn({
      where: { userId, id, status: "approved" },
      data: { status: "denied" },
      select: { machine: true },
    });
    if (login) await recordEvent(tx, userId, "login_denied", login.machine, from);
    return login !== undefined;
  });
  if (isWithdrawn) return true;
  const login = await prisma().deviceLogin.findFirst({ where: { userId, id }, select: { tokenId: true } });
  return login?.tokenId ? revokeToken(userId, login.tokenId, from) : false;
}

export async function purgeLogins(): Promise<number> {
  const where = { expiresAt: { lt: new Date(Date.now() - 86_400_000) } };
  const { count } = await prisma().deviceLogin.deleteMany({ where });
  return count;
}
